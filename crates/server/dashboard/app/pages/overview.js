// How it is going: rates, what waits longest, what comes next, and whether the server is well.

import { html, useMemo } from "../lib/html.js";
import { api, unlimited, url } from "../lib/api.js";
import { setClock, now } from "../lib/clock.js";
import { useResource } from "../lib/resource.js";
import { href } from "../lib/router.js";
import { bytes, number, short, t } from "../lib/text.js";
import { State } from "../parts/badge.js";
import { Empty, Table } from "../parts/table.js";
import { Duration, Time } from "../parts/time.js";
import { Card, Facts, Loaded, Page, Stat } from "../parts/view.js";
import { Rates, curves } from "./queue.js";

const EVENTS = ["task.*", "queue.changed", "bundle.*"];

/** Reads how the server is, and what time it is there. @param {string} path @param {AbortSignal} signal */
async function readSystem(path, signal) {
  const system = await api.get(path, signal);
  setClock(system.now);
  return system;
}

/** The average of the last minute. @param {number[]} values */
const lately = (values) => values.slice(-6).reduce((sum, value) => sum + value, 0) / 6;

export function Overview() {
  const queues = useResource("/v1/queues?limit=1000", { types: EVENTS, apart: 2000 });
  const stats = useResource("/v1/stats", { types: ["task.*"], apart: 5000 });
  const plans = useResource(url`/v1/plans${{ order: "next", limit: 10 }}`, { types: ["plan.*"] });
  const system = useResource(unlimited() ? "/v1/system" : null, { types: ["worker.*"], apart: 10_000, read: readSystem });
  const tick = Math.floor(now.value / 10_000);
  const rates = useMemo(() => stats.data && curves(stats.data), [stats.data, tick]);
  return html`<${Page} title=${t("overview.title")}>
    <${Loaded} from=${queues}>${(/** @type {any} */ page) => html`<${Figures} queues=${page.items} rates=${rates} />`}</${Loaded}>
    <${Rates} />
    <div class="columns">
      <${Card} title=${t("overview.next")} flush actions=${html`<a href=${href(["plans"])}>${t("overview.all-plans")}</a>`}><${Loaded} from=${plans}>${(/** @type {any} */ page) => html`<${Table} label=${t("overview.next")} rows=${page.items.slice(0, 10)} rowKey=${(/** @type {any} */ plan) => plan.plan_id}
        empty=${html`<${Empty} icon="plans">${t("overview.no-plans")}</${Empty}>`} columns=${[
          { label: t("overview.plan"), wide: true, bare: true, cell: (/** @type {any} */ plan) => html`<a class="clip" dir="auto" href=${href(["plans", plan.plan_id])}>${plan.description || plan.plan_id}</a>` },
          { label: t("shell.queue"), cell: (/** @type {any} */ plan) => html`<a href=${href(["queues", plan.station])}>${plan.station}</a>` },
          { label: t("overview.at"), cell: (/** @type {any} */ plan) => html`<${Time} at=${plan.next_at} />` },
        ]} />`}</${Loaded}></${Card}>
      <div class="stack">
        <${Card} title=${t("overview.busiest")} flush><${Loaded} from=${queues}>${(/** @type {any} */ page) => html`<${Busiest} queues=${page.items} />`}</${Loaded}></${Card}>
        <${Card} title=${t("overview.health")}><${Loaded} from=${system}>${(/** @type {any} */ it) => html`<${Health} system=${it} />`}</${Loaded}></${Card}>
      </div>
    </div>
  </${Page}>`;
}

/** @param {{queues: any[], rates: ReturnType<typeof curves> | undefined}} props */
function Figures({ queues, rates }) {
  const sum = (/** @type {string} */ name) => queues.reduce((total, queue) => total + queue.counts[name], 0);
  const oldest = queues.reduce((most, queue) => (queue.oldest_ready_age > (most?.oldest_ready_age ?? -1) && queue.oldest_ready_age !== null ? queue : most), /** @type {any} */ (null));
  const rate = (/** @type {number[] | undefined} */ values) => (values ? html`${short(Math.round(lately(values) * 10) / 10)}<small class="muted"> /s</small>` : "–");
  return html`<div class="stats">
    <${Stat} label=${t("overview.in")} value=${rate(rates?.pushed)} hint=${t("overview.last-minute")} />
    <${Stat} label=${t("overview.out")} value=${rate(rates?.done)} hint=${t("overview.last-minute")} />
    <${Stat} label=${t("overview.failing")} value=${rate(rates?.failed)} hint=${t("overview.last-minute")} />
    <${Stat} label=${t("state.ready")} value=${short(sum("ready"))} hint=${t("overview.waiting", { n: sum("waiting") })} href=${href(["queues"])} />
    <${Stat} label=${t("state.running")} value=${short(sum("taken"))} href=${href(["workers"])} />
    <${Stat} label=${t("state.failed")} value=${short(sum("failed"))} tone=${sum("failed") ? "bad" : ""} href=${href(["failed"])} />
    <${Stat} label=${t("overview.oldest")} value=${html`<${Duration} seconds=${oldest?.oldest_ready_age} />`} hint=${oldest?.name ?? t("overview.none-ready")} href=${oldest ? href(["tasks"], { queue: oldest.name, state: "ready" }) : undefined} />
  </div>`;
}

/** @param {{queues: any[]}} props */
function Busiest({ queues }) {
  const busy = queues.filter((queue) => queue.counts.total > 0 || queue.paused).toSorted((a, b) => b.counts.total - a.counts.total).slice(0, 5);
  return html`<${Table} label=${t("overview.busiest")} rows=${busy} rowKey=${(/** @type {any} */ queue) => queue.name} empty=${html`<${Empty} icon="check">${t("overview.idle")}</${Empty}>`} columns=${[
    { label: t("shell.queue"), bare: true, wide: true, cell: (/** @type {any} */ queue) => html`<span class="queue-name"><a href=${href(["queues", queue.name])}>${queue.name}</a>${queue.paused && html`<${State} state="paused" />`}</span>` },
    { label: t("state.ready"), align: "end", cell: (/** @type {any} */ queue) => number(queue.counts.ready) },
    { label: t("state.running"), align: "end", cell: (/** @type {any} */ queue) => number(queue.counts.taken) },
    { label: t("queues.oldest"), align: "end", cell: (/** @type {any} */ queue) => html`<${Duration} seconds=${queue.oldest_ready_age} />` },
  ]} />`;
}

/** @param {{system: any}} props */
function Health({ system }) {
  return html`<${Facts} items=${[
    [t("overview.store"), html`<span class="queue-name"><${State} state=${system.store.available ? "ok" : "error"} /><span>${system.store.kind}</span></span>`],
    [t("overview.problem"), system.store.problem && html`<span class="bad-text">${system.store.problem}</span>`],
    [t("overview.size"), system.store.bytes === null ? null : bytes(system.store.bytes)],
    [t("overview.durability"), system.store.durability],
    [t("overview.version"), system.version],
    [t("overview.since"), html`<${Time} at=${system.started_at} />`],
  ]} />
  <ul class="nodes">${system.nodes.map((/** @type {any} */ node) => html`<li key=${node.id}><span class="queue-name"><${State} state=${now.value - Date.parse(node.seen_at) < 30_000 ? "active" : "lost"} /><code>${node.address ?? node.id}</code>${node.this && html`<span class="muted">${t("overview.this-node")}</span>`}</span><${Time} at=${node.seen_at} only="relative" /></li>`)}</ul>`;
}
