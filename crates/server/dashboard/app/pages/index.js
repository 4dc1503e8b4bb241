// The pages. To add one: write `pages/<name>.js` with a component, its texts in `text/en/<name>.js` and
// `text/zh/<name>.js` (with `<name>.title`, listed in `all.js` of both), and a line here.

import { unlimited } from "../lib/api.js";
import { Overview } from "./overview.js";
import { Queues } from "./queues.js";
import { Queue } from "./queue.js";
import { Tasks } from "./tasks.js";
import { Task } from "./task.js";
import { Failed } from "./failed.js";
import { Plans } from "./plans.js";
import { Plan } from "./plan.js";
import { Flows } from "./flows.js";
import { Flow } from "./flow.js";
import { Deliveries } from "./deliveries.js";
import { Delivery } from "./delivery.js";
import { Bundles } from "./bundles.js";
import { Bundle } from "./bundle.js";
import { Workers } from "./workers.js";
import { Worker } from "./worker.js";
import { System } from "./system.js";
import { EditPlan, NewPlan } from "./plan-form.js";

/**
 * @typedef {object} PageEntry
 * @property {string} path a pattern; its `:parts` become the properties of the view
 * @property {any} view
 * @property {string} nav the entry of the navigation it belongs to; `<nav>.title` is its text
 * @property {string} [icon] if it is an entry of the navigation itself
 * @property {string} [key] `g` and this key lead to it
 * @property {() => boolean} [shown] whether the token allows it
 */

/** @type {PageEntry[]} */
export const PAGES = [
  { path: "", view: Overview, nav: "overview", icon: "overview", key: "o", shown: unlimited },
  { path: "queues", view: Queues, nav: "queues", icon: "queues", key: "q" },
  { path: "queues/:queue", view: Queue, nav: "queues" },
  { path: "tasks", view: Tasks, nav: "tasks", icon: "tasks", key: "t" },
  { path: "queues/:queue/tasks/:id", view: Task, nav: "tasks" },
  { path: "failed", view: Failed, nav: "failed", icon: "failed", key: "f" },
  { path: "plans", view: Plans, nav: "plans", icon: "plans", key: "p" },
  { path: "new-plan", view: NewPlan, nav: "plans" },
  { path: "plans/:id", view: Plan, nav: "plans" },
  { path: "plans/:id/edit", view: EditPlan, nav: "plans" },
  { path: "flows", view: Flows, nav: "flows", icon: "flows", key: "l" },
  { path: "flows/:id", view: Flow, nav: "flows" },
  { path: "deliveries", view: Deliveries, nav: "deliveries", icon: "deliveries", key: "d" },
  { path: "deliveries/:queue/:id", view: Delivery, nav: "deliveries" },
  { path: "bundles", view: Bundles, nav: "bundles", icon: "bundles", key: "b" },
  { path: "bundles/:queue/:bundle", view: Bundle, nav: "bundles" },
  { path: "workers", view: Workers, nav: "workers", icon: "workers", key: "w" },
  { path: "workers/:name", view: Worker, nav: "workers" },
  { path: "system", view: System, nav: "system", icon: "system", key: "s", shown: unlimited },
];
