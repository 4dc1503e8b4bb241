// One queue: what it holds, how it has been lately, its settings, and what can be done to it as a whole.

import { html, useMemo, useState } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { duration, now } from "../lib/clock.js";
import { useResource } from "../lib/resource.js";
import { href } from "../lib/router.js";
import { number, t } from "../lib/text.js";
import { Badge, State, Tag } from "../parts/badge.js";
import { BulkDialog } from "../parts/bulk.js";
import { Chart } from "../parts/chart.js";
import { confirm } from "../parts/dialog.js";
import { Duration, Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Facts, Loaded, Page, Stat } from "../parts/view.js";
import { BUILT_IN } from "./overview-alerts.js";
import { Settings } from "./queue-settings.js";

const EVENTS = ["task.*", "bundle.*", "queue.changed", "pub.*"];
const STATES = ["waiting", "ready", "assigned", "running", "paused", "failed", "done", "cancelled"];

/** @param {{queue: string}} props */
export function Queue({ queue: name }) {
  const queue = useResource(url`/v1/queues/${name}`, { types: EVENTS, queue: name });
  const scale = useResource(url`/v1/queues/${name}/scale`, { types: EVENTS, queue: name, apart: 5000 });
  const rates = useRates(url`/v1/stats${{ queue: name }}`, name);
  const [open, setOpen] = useState(/** @type {"settings" | "drain" | null} */ (null));
  const allowed = may("admin", name);
  const close = () => (setOpen(null), queue.refresh());

  const verb = async (/** @type {string} */ path, /** @type {string} */ done) => {
    await act(() => api.post(url`/v1/queues/${name}/` + path), done);
    queue.refresh();
  };
  const reset = async () => {
    const yes = await confirm({
      title: t("queues.reset-title", { name }),
      body: t("queues.reset-text", { n: queue.data.counts.total, bundles: queue.data.counts.bundles }),
      action: t("queues.reset"),
      danger: true,
      typed: name,
    });
    if (yes) await verb("reset", t("queues.was-reset", { name }));
  };
  const remove = async () => {
    const yes = await confirm({
      title: t("queues.delete-title", { name }),
      body: t("queues.delete-text"),
      action: t("queues.delete"),
      danger: true,
      typed: name,
    });
    if (!yes) return;
    await act(() => api.delete(url`/v1/queues/${name}`), t("queues.deleted", { name }), { to: () => [["queues"]] });
  };

  const data = queue.data;
  return html`
    <${Page}
      title=${name}
      above=${[{ label: t("queues.title"), href: href(["queues"]) }]}
      beside=${
        data &&
        html`
          <${Badge}>${t(`queues.mode.${data.mode}`)}</${Badge}>
          ${data.paused && html`<${State} state="paused" />`}${data.tag && html`<${Tag}>${data.tag}</${Tag}>`}
        `
      }
      actions=${
        data &&
        html`
          <a class="button" href=${href(["tasks"], { queue: name })}>${t("queues.tasks")}</a>
          <${Action}
            allowed=${allowed}
            icon=${data.paused ? "play" : "pause"}
            onClick=${() => verb(data.paused ? "resume" : "pause", t(data.paused ? "queues.resumed" : "queues.paused", { name }))}
          >
            ${t(data.paused ? "queues.resume" : "queues.pause")}
          </${Action}>
          <${Action} allowed=${allowed} icon="settings" onClick=${() => setOpen("settings")}>
            ${t("queues.settings")}
          </${Action}>
          <${Action} allowed=${may("produce", name)} tone="danger" onClick=${() => setOpen("drain")}>
            ${t("queues.drain")}
          </${Action}>
          <${Action} allowed=${allowed} tone="danger" onClick=${reset}>${t("queues.reset")}</${Action}>
          <${Action} allowed=${allowed && !BUILT_IN.includes(name)} tone="danger" onClick=${remove}>
            ${t("queues.delete")}
          </${Action}>
        `
      }
    >
      <${Loaded} from=${queue}>
        ${() => html`
      <div class="stats">${STATES.map(
        (state) => html`
          <${Stat}
            key=${state}
            label=${t(`state.${state}`)}
            value=${number(data.counts[state])}
            tone=${state === "failed" && data.counts.failed ? "bad" : ""}
            href=${href(["tasks"], { queue: name, state })}
          />
        `,
      )}</div>
      <${Rates} rates=${rates} />
      <div class="columns">
        <${Card} title=${t("queues.settings")}><${Facts} items=${settings(data)} /></${Card}
        ><${Card} title=${t("queues.now")}><${Facts} items=${[
          [
            t("queues.oldest"),
            html`<${Duration} seconds=${data.oldest_ready_age} />`,
          ],
          [
            t("queues.bundles"),
            data.counts.bundles
              ? html`<a href=${href(["bundles"], { queue: name })}>${number(data.counts.bundles)}</a>`
              : "0",
          ],
          [t("queues.backlog"), scale.data && number(scale.data.backlog)],
          [t("queues.workers"), scale.data && number(scale.data.workers)],
          [t("queues.desired"), scale.data && number(scale.data.desired_workers)],
          [
            t("queues.created"),
            html`<${Time} at=${data.created_at} />`,
          ],
        ]} /></${Card}>
      </div>`}
      </${Loaded}>
      ${open === "settings" && html`<${Settings} queue=${data} onClose=${close} />`}
      ${
        open === "drain" &&
        html`
          <${BulkDialog}
            queue=${name}
            verb="clean"
            filter=${{ state: "ready,waiting,paused" }}
            title=${t("queues.drain-title", { name })}
            note=${t("queues.drain-text")}
            action=${t("queues.drain")}
            typed=${name}
            onClose=${close}
          />
        `
      }
    </${Page}>
  `;
}

/** How long an end is kept, in words. @param {[string, any]} entry */
const kept = ([name, seconds]) => [name, seconds === 0 ? t("queues.not-kept") : duration(seconds)];

/** What is set, in words; what is not set is left out. @param {any} queue @returns {[string, any][]} */
function settings(queue) {
  const retry = queue.retry.intervals
    ? queue.retry.intervals.map(duration).join(", ")
    : t("queues.retry-words", {
        first: duration(queue.retry.first),
        factor: queue.retry.factor,
        max: duration(queue.retry.max),
      });
  return [
    [t("queues.hold"), duration(queue.hold)],
    [t("queues.max_attempts"), queue.max_attempts < 0 ? t("queues.unlimited") : number(queue.max_attempts)],
    [t("queues.max_runtime"), queue.max_runtime === null ? null : duration(queue.max_runtime)],
    [t("queues.retry"), retry],
    [t("queues.order"), t(`queues.order.${queue.order}`)],
    [t("queues.max"), queue.max === null ? t("queues.unlimited") : number(queue.max)],
    [t("queues.concurrency"), queue.concurrency === null ? t("queues.unlimited") : number(queue.concurrency)],
    [
      t("queues.rate"),
      queue.rate === null
        ? t("queues.unlimited")
        : t("queues.rate-words", { n: queue.rate.limit, per: duration(queue.rate.per) }),
    ],
    [t("queues.keep"), t("queues.keep-words", Object.fromEntries(Object.entries(queue.keep).map(kept)))],
    [t("queues.confirm_within"), queue.mode === "dispatch" ? duration(queue.confirm_within) : null],
    [
      t("queues.url"),
      queue.url && html`<code>${queue.url}</code>`,
    ],
    [t("queues.timeout"), queue.mode === "http" ? duration(queue.timeout) : null],
    [t("queues.abandon_after"), queue.abandon_after === null ? null : duration(queue.abandon_after)],
  ];
}

/**
 * Rates of the last hour, of one queue or of all; none while they are not known.
 * @param {string | null} path where they are read, if they may be
 * @param {string} [queue]
 */
export function useRates(path, queue) {
  const stats = useResource(path, { types: ["task.*", "pub.*"], queue, apart: 5000 });
  const tick = Math.floor(now.value / 10_000);
  return useMemo(() => stats.data && curves(stats.data), [stats.data, tick]);
}

/** Rates of the last hour as curves: in, out, failed. @param {{rates: ReturnType<typeof useRates>}} props */
export function Rates({ rates }) {
  const drawn = rates && [
    { label: t("queues.in"), tone: "accent", values: rates.pushed },
    { label: t("queues.out"), tone: "good", values: rates.done },
    { label: t("queues.went-wrong"), tone: "bad", values: rates.failed },
  ];
  return html`
    <${Card} title=${t("queues.rates")}>
      ${
        drawn
          ? html`<${Chart} label=${t("queues.rates-label")} times=${rates.times} curves=${drawn} />`
          : html`<div class="chart"></div>`
      }
    </${Card}>
  `;
}

/**
 * Counts per second. The step under way is left out; where nothing was heard since, nothing happened.
 * @param {any} stats
 */
function curves({ step, from, pushed, done, failed }) {
  const start = Date.parse(from) / 1000;
  const missing = Math.max(0, Math.min(pushed.length, Math.floor((now.peek() / 1000 - start) / step) - pushed.length));
  const rate = (/** @type {number[]} */ counts) =>
    [...counts.slice(missing), ...Array(missing).fill(0)].slice(0, -1).map((count) => count / step);
  const times = rate(pushed).map((_, index) => start + (index + missing) * step);
  return { times, pushed: rate(pushed), done: rate(done), failed: rate(failed) };
}
