// Where something stands: an icon and a word, so that colour is never all there is to see.

import { cx, html } from "../lib/html.js";
import { has, t } from "../lib/text.js";
import { Icon } from "./icon.js";

/** The tone and icon of each state, of tasks, plans, flows, workers, notices, bundles and hosts. @type {Record<string, [string, string]>} */
const LOOKS = {
  waiting: ["quiet", "clock"],
  ready: ["info", "dot"],
  assigned: ["info", "hand"],
  running: ["active", "half"],
  pausing: ["warn", "pause"],
  cancelling: ["warn", "stop"],
  paused: ["warn", "pause"],
  done: ["good", "check"],
  failed: ["bad", "failed"],
  cancelled: ["quiet", "ban"],
  pending: ["quiet", "ring"],
  scheduled: ["info", "clock"],
  error: ["bad", "failed"],
  finished: ["good", "check"],
  succeeded: ["good", "check"],
  exhausted: ["bad", "failed"],
  delivering: ["active", "deliveries"],
  lost: ["bad", "off"],
  draining: ["warn", "pause"],
  joined: ["good", "check"],
  active: ["good", "check"],
  released: ["quiet", "left"],
  unconfirmed: ["warn", "clock"],
  freed: ["quiet", "left"],
  open: ["bad", "ban"],
  closed: ["good", "check"],
  probing: ["warn", "half"],
  due: ["info", "dot"],
  started: ["active", "half"],
  locked: ["active", "hand"],
  ok: ["good", "check"],
  skipped: ["quiet", "skip"],
  no_worker: ["warn", "failed"],
};

/** The tone and icon of a state. @param {string} state @returns {[string, string]} */
export const lookOf = (state) => LOOKS[state] ?? ["quiet", "dot"];

/** The word for a state. @param {string} state */
export const wordFor = (state) => (has(`state.${state}`) ? t(`state.${state}`) : state);

/** @param {{state: string}} props */
export function State({ state }) {
  const [tone, icon] = lookOf(state);
  return html`
    <span class=${cx("badge", tone)} data-state=${state}>
      <${Icon} name=${icon} />
      ${wordFor(state)}
    </span>
  `;
}

/** A word in a tone of its own. @param {{tone?: string, icon?: string, children?: import("../lib/html.js").Children}} props */
export function Badge({ tone = "quiet", icon, children }) {
  return html`
    <span class=${cx("badge", tone)}>
      ${icon && html`<${Icon} name=${icon} />`}${children}
    </span>
  `;
}

/** A label somebody has given. @param {{children?: import("../lib/html.js").Children, href?: string}} props */
export function Tag({ children, href }) {
  return href
    ? html`<a class="tag" href=${href} dir="auto">${children}</a>`
    : html`<span class="tag" dir="auto">${children}</span>`;
}
