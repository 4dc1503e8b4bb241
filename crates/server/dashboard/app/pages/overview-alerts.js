// The strip of alerts on top of the overview, and the first steps on a new server.

import { html } from "../lib/html.js";
import { may, token, unlimited, url } from "../lib/api.js";
import { useResource } from "../lib/resource.js";
import { href } from "../lib/router.js";
import { t } from "../lib/text.js";
import { Icon } from "../parts/icon.js";
import { copy } from "../parts/json-tree.js";
import { Card } from "../parts/view.js";

/** Queues that every server has. */
export const BUILT_IN = ["notices", "bundles", "callbacks"];
const NAMED = 3;

/** @typedef {{kind: string, tone: string, names: string[], href: string}} Alert */

/** A line for each kind of thing that stands still. @param {{queues: any[]}} props */
export function Alerts({ queues }) {
  const plans = useResource(url`/v1/plans${{ state: "error", limit: 100 }}`, { types: ["plan.*"], apart: 3000 });
  const workers = useResource(url`/v1/workers${{ state: "lost", limit: 100 }}`, { types: ["worker.*"], apart: 3000 });
  const hosts = useResource(unlimited() ? "/v1/hosts" : null, { types: ["task.*", "notice.*"], apart: 10_000 });
  const names = (/** @type {any[] | undefined} */ items, /** @type {string} */ name) =>
    (items ?? []).map((item) => String(item[name]));
  const open = hosts.data?.items.filter((/** @type {any} */ { state }) => state !== "closed");
  const paused = queues.filter((queue) => queue.paused);
  const only = paused.length === 1 ? paused[0].name : null;
  /** @type {Alert[]} */
  const all = [
    { kind: "plans", tone: "bad", names: names(plans.data?.items, "plan_id"), href: href(["plans"], { state: "error" }) },
    { kind: "hosts", tone: "bad", names: names(open, "host"), href: href(["deliveries"]) },
    { kind: "workers", tone: "bad", names: names(workers.data?.items, "name"), href: href(["workers"], { state: "lost" }) },
    { kind: "paused", tone: "warn", names: names(paused, "name"), href: only ? href(["queues", only]) : href(["queues"]) },
  ];
  const shown = all.filter((alert) => alert.names.length > 0);
  return (
    shown.length > 0 &&
    html`
      <ul class="alerts" aria-label=${t("overview.alerts")}>
        ${shown.map(
          (alert) => html`
            <li key=${alert.kind}>
              <a class=${`alert ${alert.tone}`} href=${alert.href} data-alert=${alert.kind}>
                <${Icon} name=${alert.tone === "bad" ? "failed" : "pause"} />
                <strong>${t(`overview.alert.${alert.kind}`, { n: alert.names.length })}</strong>
                <span class="clip" dir="auto">
                  ${alert.names.slice(0, NAMED).join(", ")}${alert.names.length > NAMED ? " …" : ""}
                </span>
              </a>
            </li>
          `,
        )}
      </ul>
    `
  );
}

/** The first steps on a server that nobody has used. */
export function FirstRun() {
  const header = token.value ? ' -H "Authorization: Bearer $PUNCTUAL_TOKEN"' : "";
  const command = `curl${header} ${location.origin}/v1/queues/hello/tasks -d '{"payload": "hello"}'`;
  return html`
    <${Card} title=${t("overview.first")}>
      <p>${t("overview.first-text")}</p>
      ${
        may("produce", "hello") &&
        html`
          <div class="command">
            <code>${command}</code>
            <button onClick=${() => copy(command)}>
              <${Icon} name="copy" />
              ${t("shell.copy")}
            </button>
          </div>
        `
      }
      <p class="muted">
        ${t("overview.first-docs")}${" "}
        <a href="/docs">${t("overview.docs")}</a>
      </p>
    </${Card}>
  `;
}
