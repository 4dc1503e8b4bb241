// How it is going: rates, what waits longest, what comes next, and whether the server is well.

import { html } from "../lib/html.js";
import { api, unlimited, url } from "../lib/api.js";
import { setClock, now } from "../lib/clock.js";
import { useResource } from "../lib/resource.js";
import { href } from "../lib/router.js";
import { bytes, number, short, t } from "../lib/text.js";
import { State } from "../parts/badge.js";
import { Empty, Table } from "../parts/table.js";
import { Duration, Time } from "../parts/time.js";
import { Card, Facts, Loaded, Page, Stat } from "../parts/view.js";
import { Alerts, BUILT_IN, FirstRun } from "./overview-alerts.js";
import { Rates, useRates } from "./queue.js";

const EVENTS = ["task.*", "queue.changed", "bundle.*"];

/** Reads how the server is, and what time it is there. @param {string} path @param {AbortSignal} signal */
async function readSystem(path, signal) {
  const system = await api.get(path, signal);
  setClock(system.now);
  return system;
}

export function Overview() {
  const all = unlimited();
  const totals = useResource("/v1/stats/totals", { types: EVENTS, apart: 2000 });
  const plans = useResource(url`/v1/plans${{ order: "next", limit: 10 }}`, { types: ["plan.*"] });
  const system = useResource(all ? "/v1/system" : null, { types: ["worker.*"], apart: 10_000, read: readSystem });
  const rates = useRates(all ? "/v1/stats" : null);
  const queues = useResource("/v1/queues?limit=1000", { types: ["queue.changed"], apart: 5000 });
  const unused = queues.data?.items.every((/** @type {any} */ { name }) => BUILT_IN.includes(name));
  return html`
    <${Page} title=${t("overview.title")} actions=${html`<a class="button" href="/docs">${t("overview.docs")}</a>`}>
      <${Alerts} queues=${queues.data?.items ?? []} />
      ${unused && totals.data?.counts.total === 0 && html`<${FirstRun} />`}
      <${Loaded} from=${totals}>
        ${(/** @type {any} */ it) => html`<${Figures} totals=${it} rates=${all ? (rates ?? "soon") : null} />`}
      </${Loaded}>
      ${all && html`<${Rates} rates=${rates} />`}
      <div class="columns">
        <${NextRuns} plans=${plans} />
        <div class="stack">
          <${Card} title=${t("overview.busiest")} flush>
            <${Loaded} from=${totals}>
              ${(/** @type {any} */ it) => html`<${Busiest} queues=${it.busiest} />`}
            </${Loaded}>
          </${Card}>
          ${
            all &&
            html`
              <${Card} title=${t("overview.health")}>
                <${Loaded} from=${system}>
                  ${(/** @type {any} */ it) => html`<${Health} system=${it} />`}
                </${Loaded}>
              </${Card}>
            `
          }
        </div>
      </div>
    </${Page}>
  `;
}

/** The average of the last minute. @param {number[]} values */
const lately = (values) => values.slice(-6).reduce((sum, value) => sum + value, 0) / 6;

/**
 * @param {object} props
 * @param {any} props.totals
 * @param {NonNullable<ReturnType<typeof useRates>> | "soon" | null} props.rates null: they may not be known
 */
function Figures({ totals: { counts, oldest_ready_age: age, oldest_ready_queue: oldest }, rates }) {
  const rate = (/** @type {string} */ label, /** @type {"pushed" | "done" | "failed"} */ name) => {
    const known = rates && rates !== "soon" && short(Math.round(lately(rates[name]) * 10) / 10);
    const value = known
      ? html`
          ${known}
          <small class="muted">${" /s"}</small>
        `
      : "–";
    return (rates && html`<${Stat} label=${label} value=${value} hint=${t("overview.last-minute")} />`);
  };
  return html`
    <div class="stats">
      ${rate(t("overview.in"), "pushed")}${rate(t("overview.out"), "done")}${rate(t("overview.failing"), "failed")}
      <${Stat}
        label=${t("state.ready")}
        value=${short(counts.ready)}
        hint=${t("overview.waiting", { n: counts.waiting })}
        href=${href(["queues"])}
      />
      <${Stat} label=${t("state.running")} value=${short(counts.taken)} href=${href(["queues"], { sort: "running" })} />
      <${Stat}
        label=${t("state.failed")}
        value=${short(counts.failed)}
        tone=${counts.failed ? "bad" : ""}
        href=${href(["failed"])}
      />
      <${Stat}
        label=${t("overview.oldest")}
        value=${html`<${Duration} seconds=${age} />`}
        hint=${oldest ?? t("overview.none-ready")}
        href=${oldest ? href(["tasks"], { queue: oldest, state: "ready" }) : undefined}
      />
    </div>
  `;
}

/** @param {{plans: import("../lib/resource.js").Resource<any>}} props */
function NextRuns({ plans }) {
  /** @type {import("../parts/table.js").Column<any>[]} */
  const columns = [
    {
      label: t("overview.plan"),
      wide: true,
      bare: true,
      cell: (plan) => html`
        <a class="clip" dir="auto" href=${href(["plans", plan.plan_id])}>${plan.description || plan.plan_id}</a>
      `,
    },
    {
      label: t("shell.queue"),
      cell: ({ station }) => html`<a href=${href(["queues", station])}>${station}</a>`,
    },
    {
      label: t("overview.at"),
      cell: (plan) => html`<${Time} at=${plan.next_at} />`,
    },
  ];
  const link = html`<a href=${href(["plans"])}>${t("overview.all-plans")}</a>`;
  return html`
    <${Card} title=${t("overview.next")} flush actions=${link}>
      <${Loaded} from=${plans}>
        ${(/** @type {any} */ page) => html`
          <${Table}
            label=${t("overview.next")}
            rows=${page.items}
            rowKey=${(/** @type {any} */ plan) => plan.plan_id}
            columns=${columns}
            empty=${html`<${Empty} icon="plans">${t("overview.no-plans")}</${Empty}>`}
          />
        `}
      </${Loaded}>
    </${Card}>
  `;
}

/** @param {{queues: any[]}} props */
function Busiest({ queues }) {
  /** @type {import("../parts/table.js").Column<any>[]} */
  const columns = [
    {
      label: t("shell.queue"),
      bare: true,
      wide: true,
      cell: ({ name, paused }) => html`
        <span class="queue-name">
          <a href=${href(["queues", name])}>${name}</a>
          ${paused && html`<${State} state="paused" />`}
        </span>
      `,
    },
    { label: t("state.ready"), align: "end", cell: ({ counts }) => number(counts.ready) },
    { label: t("state.running"), align: "end", cell: ({ counts }) => number(counts.taken) },
    {
      label: t("queues.oldest"),
      align: "end",
      cell: (queue) => html`<${Duration} seconds=${queue.oldest_ready_age} />`,
    },
  ];
  return html`
    <${Table}
      label=${t("overview.busiest")}
      rows=${queues}
      rowKey=${(/** @type {any} */ queue) => queue.name}
      columns=${columns}
      empty=${html`<${Empty} icon="check">${t("overview.idle")}</${Empty}>`}
    />
  `;
}

/** @param {{system: any}} props */
function Health({ system: { store, nodes, version, started_at: since } }) {
  const state = html`
    <span class="queue-name">
      <${State} state=${store.available ? "ok" : "error"} />
      <span>${store.kind}</span>
    </span>
  `;
  return html`
    <${Facts}
      items=${[
        [t("overview.store"), state],
        [
          t("overview.problem"),
          store.problem && html`<span class="bad-text">${store.problem}</span>`,
        ],
        [t("overview.size"), store.bytes === null ? null : bytes(store.bytes)],
        [t("overview.durability"), store.durability],
        [t("overview.version"), version],
        [
          t("overview.since"),
          html`<${Time} at=${since} />`,
        ],
      ]}
    />
    <ul class="nodes">
      ${nodes.map((/** @type {any} */ node) => html`<${Node} key=${node.id} node=${node} />`)}
    </ul>
  `;
}

/** A server that was not heard of for this long counts as lost. */
const SILENCE_MS = 30_000;

/** @param {{node: any}} props */
function Node({ node }) {
  const heard = now.value - Date.parse(node.seen_at) < SILENCE_MS;
  return html`
    <li>
      <span class="queue-name">
        <${State} state=${heard ? "active" : "lost"} />
        <code>${node.address ?? node.id}</code>
        ${node.this && html`<span class="muted">${t("overview.this-node")}</span>`}
      </span>
      <${Time} at=${node.seen_at} only="relative" />
    </li>
  `;
}
