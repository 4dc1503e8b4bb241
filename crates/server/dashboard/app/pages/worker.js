// One worker: what it serves and is capable of, and the tasks it has.

import { html } from "../lib/html.js";
import { api, url } from "../lib/api.js";
import { useResource } from "../lib/resource.js";
import { href, route } from "../lib/router.js";
import { t } from "../lib/text.js";
import { State, Tag } from "../parts/badge.js";
import { confirm } from "../parts/dialog.js";
import { Pager } from "../parts/pager.js";
import { Progress } from "../parts/progress.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Facts, Loaded, Page } from "../parts/view.js";
import { drain, Load, mayTell } from "./workers.js";

const EVENTS = ["worker.*", "task.*"];

/** @param {{name: string}} props */
export function Worker({ name }) {
  const path = url`/v1/workers/${name}`;
  const loaded = useResource(path, { types: EVENTS });
  const worker = loaded.data;
  const leave = async () => {
    const yes = await confirm({
      title: t("workers.leave-title", { name }),
      body: t("workers.leave-text"),
      action: t("workers.leave"),
      danger: true,
    });
    if (!yes) return;
    await act(() => api.delete(path), t("workers.did-leave", { name }), { to: () => [["workers"]] });
  };
  const drainIt = async () => (await drain(name), loaded.refresh());
  const actions =
    worker &&
    html`
      <${Action} allowed=${worker.state === "active" && mayTell(worker)} icon="pause" onClick=${drainIt}>
        ${t("workers.drain")}
      </${Action}>
      <${Action} allowed=${mayTell(worker)} tone="danger" onClick=${leave}>${t("workers.leave")}</${Action}>
    `;
  return html`
    <${Page}
      title=${name}
      above=${[{ label: t("workers.title"), href: href(["workers"]) }]}
      beside=${worker && html`<${State} state=${worker.state} />`}
      actions=${actions}
    >
      <${Loaded} from=${loaded}>
        ${() => html`
          <${Card} title=${t("workers.facts")}><${Facts} items=${facts(worker)} /></${Card}>
          <${Holdings} path=${path} />
        `}
      </${Loaded}>
    </${Page}>
  `;
}

/** What it says of itself. @param {any} worker @returns {[string, any][]} */
function facts(worker) {
  const tags = (/** @type {string[]} */ names, /** @type {(name: string) => string | undefined} */ link) => html`
    <span class="tags">
      ${names.map((one) => html`<${Tag} key=${one} href=${link(one)}>${one}</${Tag}>`)}
    </span>
  `;
  return [
    [
      t("workers.load"),
      html`<${Load} worker=${worker} />`,
    ],
    [
      t("workers.heartbeat"),
      html`<${Time} at=${worker.last_heartbeat} />`,
    ],
    [
      t("workers.joined"),
      html`<${Time} at=${worker.joined_at} />`,
    ],
    [
      t("workers.session"),
      worker.session && html`<span class="code" dir="auto">${worker.session}</span>`,
    ],
    [t("workers.queues"), tags(worker.queues, (queue) => href(["queues", queue]))],
    [t("workers.capabilities"), worker.capabilities.length > 0 ? tags(worker.capabilities, () => undefined) : null],
  ];
}

/** The tasks it has. @param {{path: string}} props */
function Holdings({ path }) {
  const cursor = route.value.query.get("cursor");
  const held = useResource(path + url`/tasks${{ limit: 100, cursor }}`, { types: EVENTS, apart: 2000, keep: true });
  /** @type {import("../parts/table.js").Column<any>[]} */
  const columns = [
    {
      label: t("shell.task"),
      bare: true,
      wide: true,
      cell: ({ queue, id }) => html`<a class="clip code" href=${href(["queues", queue, "tasks", id])}>${id}</a>`,
    },
    {
      label: t("shell.queue"),
      cell: ({ queue }) => html`<a class="clip station" href=${href(["queues", queue])}>${queue}</a>`,
    },
    {
      label: t("workers.state"),
      cell: ({ state }) => html`<${State} state=${state} />`,
    },
    {
      label: t("workers.progress"),
      cell: ({ progress }) =>
        progress !== null && html`<${Progress} value=${progress} label=${t("workers.progress")} />`,
    },
    {
      label: t("workers.taken"),
      cell: (task) => html`<${Time} at=${task.taken_at} />`,
    },
    {
      label: t("workers.hold"),
      cell: (task) => html`<${Time} at=${task.hold_until} />`,
    },
  ];
  return html`
    <${Card} title=${t("workers.current")} flush>
      <${Loaded} from=${held}>
        ${(/** @type {any} */ page) => html`
          <${Table}
            label=${t("workers.current")}
            rows=${page.items}
            rowKey=${(/** @type {any} */ task) => `${task.queue} ${task.id}`}
            columns=${columns}
            empty=${html`<${Empty} icon="tasks">${t("workers.idle")}</${Empty}>`}
          />
          <${Pager} next=${page.next} />
        `}
      </${Loaded}>
    </${Card}>
  `;
}
