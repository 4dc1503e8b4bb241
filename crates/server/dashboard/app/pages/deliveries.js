// Deliveries: what was sent where, how each target is doing, and the way to send again what an outage has failed.

import { html, useState } from "../lib/html.js";
import { api, may, unlimited, url } from "../lib/api.js";
import { duration, now } from "../lib/clock.js";
import { useResource } from "../lib/resource.js";
import { filter, href, route } from "../lib/router.js";
import { number, t, tries } from "../lib/text.js";
import { State } from "../parts/badge.js";
import { BulkDialog } from "../parts/bulk.js";
import { Dialog } from "../parts/dialog.js";
import { Input, Select } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Pager } from "../parts/pager.js";
import { Phases } from "../parts/phases.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Loaded, Page } from "../parts/view.js";
import { local } from "./task-form.js";

const EVENTS = ["task.*", "notice.*", "queue.changed"];
const STATES = ["waiting", "ready", "running", "done", "failed", "cancelled", "paused"];
const HOUR = 3_600_000;

/** The target of a delivery: the task's own, where it last went, or the queue's. @param {any} task @param {string | null} [fallback] */
export const targetOf = (task, fallback) => task.http?.url ?? task.history.at(-1)?.http?.url ?? fallback ?? "";

/** Whether a delivery can be tried once more. @param {any} task */
export const resends = (task) => task.state === "failed" || (task.state === "waiting" && task.attempt > 0);

export function Deliveries() {
  const queues = useResource("/v1/queues?mode=http&limit=1000", { types: ["queue.changed"] });
  return html`
    <${Loaded} from=${queues}>
      ${(/** @type {any} */ { items }) => {
        const busiest = items.toSorted(
          (/** @type {any} */ a, /** @type {any} */ b) =>
            b.counts.total + b.counts.failed - a.counts.total - a.counts.failed,
        )[0]?.name;
        const queue = route.value.query.get("queue") || busiest;
        return queue
          ? html`<${List} key=${queue} queue=${queue} queues=${items} />`
          : html`
              <${Page} title=${t("deliveries.title")}>
                <${Empty} icon="deliveries">${t("deliveries.no-queue")}</${Empty}>
              </${Page}>
            `;
      }}
    </${Loaded}>
  `;
}

/** @param {{queue: string, queues: any[]}} props */
function List({ queue, queues }) {
  const { query } = route.value;
  const state = query.get("state") ?? "";
  const tasks = useResource(url`/v1/queues/${queue}/tasks${{ state, cursor: query.get("cursor"), limit: 50 }}`, {
    types: EVENTS,
    queue,
  });
  const [open, setOpen] = useState(/** @type {"when" | {since: string} | null} */ (null));
  const allowed = may("produce", queue);
  const fallback = queues.find((item) => item.name === queue)?.url;
  const names = queues.some((item) => item.name === queue)
    ? queues.map((item) => item.name)
    : [queue, ...queues.map((item) => item.name)];
  const resend = async (/** @type {any} */ task) => {
    await act(
      () => api.post(url`/v1/queues/${queue}/tasks/${task.id}/retry`),
      t("deliveries.did-resend", { id: task.id }),
    );
    tasks.refresh();
  };
  const columns = [
    {
      label: t("deliveries.target"),
      bare: true,
      wide: true,
      cell: (/** @type {any} */ task) => html`
        <a class="clip" dir="auto" title=${targetOf(task, fallback)} href=${href(["deliveries", queue, task.id])}>
          ${targetOf(task, fallback) || task.id}
        </a>
        <span class="clip code muted">${task.id}</span>
      `,
    },
    {
      label: t("deliveries.state"),
      cell: (/** @type {any} */ task) => html`<${State} state=${task.state} />`,
    },
    {
      label: t("deliveries.status"),
      cell: (/** @type {any} */ task) => html`<${Status} attempt=${task.history.at(-1)} />`,
    },
    {
      label: t("deliveries.latency"),
      cell: (/** @type {any} */ task) => {
        const sent = task.history.at(-1)?.http;
        return (
          sent &&
          html`
            <span class="latency">
              <${Phases} exchange=${sent} />
              <span class="number">${duration(sent.total)}</span>
            </span>
          `
        );
      },
    },
    {
      label: t("deliveries.attempts"),
      align: "end",
      cell: (/** @type {any} */ task) => html`<span class="number">${tries(task)}</span>`,
    },
    {
      label: t("deliveries.when"),
      cell: (/** @type {any} */ task) => html`
        <span class="two-lines"><${Time} at=${task.finished_at ?? task.taken_at ?? task.due_at} /></span>
      `,
    },
    ...(allowed
      ? [
          {
            label: "",
            cell: (/** @type {any} */ task) =>
              resends(task) &&
              html`
                <button
                  class="small"
                  aria-label=${`${t("deliveries.resend")} ${task.id}`}
                  title=${t("deliveries.resend")}
                  onClick=${() => resend(task)}
                >
                  <${Icon} name="retry" />
                </button>
              `,
          },
        ]
      : []),
  ];
  return html`
    <${Page}
      title=${t("deliveries.title")}
      actions=${html`
        <${Action} allowed=${allowed} icon="retry" onClick=${() => setOpen("when")}>${t("deliveries.recover")}</${Action}>
      `}
    >
      <div class="filters">
        <${Select}
          label=${t("deliveries.queue")}
          value=${queue}
          onInput=${(/** @type {string} */ value) => filter({ queue: value, cursor: null })}
          options=${names.map((name) => [name, name])}
        />
        <${Select}
          label=${t("deliveries.state")}
          value=${state}
          onInput=${(/** @type {string} */ value) => filter({ state: value, cursor: null })}
          options=${[["", t("deliveries.all")], ...STATES.map((name) => [name, t(`state.${name}`)])]}
        />
      </div>
      <${Card} flush>
        <${Loaded} from=${tasks}>
          ${(/** @type {any} */ page) => html`
            <${Table}
              label=${t("deliveries.title")}
              rows=${page.items}
              rowKey=${(/** @type {any} */ task) => task.id}
              columns=${columns}
              empty=${html`<${Empty} icon="deliveries">${t("deliveries.none")}</${Empty}>`}
            />
            <${Pager} next=${page.next} />
          `}
        </${Loaded}>
      </${Card}>
      ${unlimited() && html`<${Hosts} />`}
      ${
        open === "when" &&
        html`
          <${When}
            queue=${queue}
            onClose=${() => setOpen(null)}
            onChosen=${(/** @type {string} */ since) => setOpen({ since })}
          />
        `
      }
      ${
        open !== null &&
        open !== "when" &&
        html`
          <${BulkDialog}
            queue=${queue}
            verb="retry"
            filter=${{ state: "failed", since: open.since }}
            title=${t("deliveries.recover-title")}
            note=${t("deliveries.recover-text", { queue })}
            onClose=${() => (setOpen(null), tasks.refresh())}
          />
        `
      }
    </${Page}>
  `;
}

/** What a target answered. @param {{attempt: any}} props */
export function Status({ attempt }) {
  if (!attempt)
    return html`<span class="muted">–</span>`;
  if (attempt.status)
    return html`<code>${attempt.status}</code>`;
  return html`
    <span class="clip brief bad-text" dir="auto" title=${attempt.error}>${attempt.error?.slice(0, 200)}</span>
  `;
}

/** Asks since when. @param {{queue: string, onClose: () => void, onChosen: (since: string) => void}} props */
function When({ queue, onClose, onChosen }) {
  const [since, setSince] = useState(local(new Date(now.peek() - HOUR).toISOString()));
  return html`
    <${Dialog} title=${t("deliveries.recover-title")} onClose=${onClose}>
      <form
        onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), onChosen(new Date(since).toISOString()))}
      >
        <p class="dialog-text">${t("deliveries.recover-text", { queue })}</p>
        <${Input}
          label=${t("deliveries.recover-since")}
          type="datetime-local"
          step="1"
          value=${since}
          onInput=${setSince}
          hint=${t("deliveries.recover-hint")}
          required
        />
        <footer>
          <button type="button" onClick=${onClose}>${t("shell.cancel")}</button>
          <button class="primary" disabled=${!since}>${t("deliveries.recover-next")}</button>
        </footer>
      </form>
    </${Dialog}>
  `;
}

/** The targets of deliveries and whether they are given any. */
function Hosts() {
  const hosts = useResource("/v1/hosts", { types: ["task.*", "notice.*"], apart: 2000 });
  const columns = [
    {
      label: t("deliveries.host"),
      bare: true,
      wide: true,
      cell: (/** @type {any} */ host) => html`<code dir="auto">${host.host}</code>`,
    },
    {
      label: t("deliveries.breaker"),
      cell: (/** @type {any} */ host) => html`<${State} state=${host.state} />`,
    },
    { label: t("deliveries.in-flight"), align: "end", cell: (/** @type {any} */ host) => number(host.in_flight) },
    { label: t("deliveries.hosts-waiting"), align: "end", cell: (/** @type {any} */ host) => number(host.waiting) },
    { label: t("deliveries.failures"), align: "end", cell: (/** @type {any} */ host) => number(host.failures) },
    {
      label: t("deliveries.retry-at"),
      cell: (/** @type {any} */ host) =>
        host.retry_at && html`<${Time} at=${host.retry_at} />`,
    },
  ];
  return html`
    <${Card} title=${t("deliveries.hosts")} flush>
      <${Loaded} from=${hosts}>
        ${(/** @type {any} */ { items }) => html`
          <${Table}
            label=${t("deliveries.hosts")}
            rows=${items}
            rowKey=${(/** @type {any} */ host) => host.host}
            columns=${columns}
            empty=${html`<${Empty} icon="deliveries">${t("deliveries.hosts-none")}</${Empty}>`}
          />
        `}
      </${Loaded}>
    </${Card}>
  `;
}
