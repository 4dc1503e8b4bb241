// Tasks of a queue, by what the address says: state, tag, id, text. A verb for all that match is one click and
// a count away.

import { cx, html, useEffect, useState } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { useResource } from "../lib/resource.js";
import { filter, href, route } from "../lib/router.js";
import { short, t, tries } from "../lib/text.js";
import { State, Tag } from "../parts/badge.js";
import { BulkDialog } from "../parts/bulk.js";
import { Input } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Pager } from "../parts/pager.js";
import { QueueField } from "../parts/queue-field.js";
import { Progress } from "../parts/progress.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Action, Card, Loaded, Page } from "../parts/view.js";
import { NewTask, local } from "./task-form.js";

const EVENTS = ["task.*", "queue.changed", "notice.*"];
const STATES = [
  "waiting",
  "ready",
  "assigned",
  "running",
  "pausing",
  "cancelling",
  "paused",
  "done",
  "failed",
  "cancelled",
];
const VERBS = /** @type {const} */ ([
  ["retry", "retry"],
  ["cancel", "ban"],
  ["pause", "pause"],
  ["resume", "play"],
  ["clean", "trash"],
]);
/** Filters that a phone shows only when they are wanted. */
const FINER = ["id", "tag", "q", "error", "since"];
const SHOWN = 50;
/** A search looks at this many pages of records before it asks whether to go on. */
const LOOKS = 10;

/** Reads on while a page is short, which it may be if few records match. @param {string} path @param {AbortSignal} signal */
async function read(path, signal) {
  const address = new URL(path, location.origin);
  const items = [];
  for (let look = 0; look < LOOKS; look += 1) {
    const page = await api.get(address.pathname + address.search, signal);
    items.push(...page.items);
    if (!page.next || items.length > 0) return { items, next: page.next, ended: !page.next };
    address.searchParams.set("cursor", page.next);
  }
  return { items, next: address.searchParams.get("cursor"), ended: false };
}

export function Tasks() {
  const { query } = route.value;
  const queues = useResource(query.get("queue") ? null : "/v1/queues?limit=1000");
  const queue =
    query.get("queue") ||
    queues.data?.items.toSorted(
      (/** @type {any} */ a, /** @type {any} */ b) =>
        b.counts.total + b.counts.failed - a.counts.total - a.counts.failed,
    )[0]?.name ||
    null;
  return html`
    <${Page}
      title=${t("tasks.title")}
      beside=${queue && html`<a class="tag" href=${href(["queues", queue])}>${queue}</a>`}
      actions=${queue && html`<${NewTask} queue=${queue} />`}
    >
      ${
        queue
          ? html`<${List} key=${queue} queue=${queue} />`
          : html`
              <${Loaded} from=${queues}>
                ${() => html`<${Empty} icon="tasks">${t("queues.none")}</${Empty}>`}
              </${Loaded}>
            `
      }
    </${Page}>
  `;
}

/** @param {{queue: string}} props */
function List({ queue }) {
  const { query } = route.value;
  const given = Object.fromEntries(
    ["state", "tag", "id", "q", "error", "since"].map((name) => [name, query.get(name) ?? ""]),
  );
  const record = useResource(url`/v1/queues/${queue}`, { types: EVENTS, queue });
  const tasks = useResource(url`/v1/queues/${queue}/tasks${{ ...given, payload: "preview", cursor: query.get("cursor"), limit: SHOWN }}`, {
    types: EVENTS,
    queue,
    keep: true,
    read,
  });
  const [verb, setVerb] = useState(/** @type {string | null} */ (null));
  const states = (given.state ?? "").split(",").filter(Boolean);
  const toggle = (/** @type {string} */ state) =>
    filter({
      state: (states.includes(state) ? states.filter((name) => name !== state) : [...states, state]).join(),
      cursor: null,
    });
  const finer = FINER.some((name) => given[name]);
  const [unfolded, setUnfolded] = useState(false);
  const chosen = Object.fromEntries(Object.entries(given).filter(([, value]) => value));

  return html`
    <div class=${cx("filters", "foldable", (unfolded || finer) && "unfolded")}>
      <${QueueField} queue=${queue} />
      <button class="fold" aria-expanded=${unfolded || finer} disabled=${finer} onClick=${() => setUnfolded(!unfolded)}>
        <${Icon} name="settings" />
        ${t("tasks.filters")}
      </button>
      ${["id", "tag", "q", "error"].map(
        (name) => html`<${Typed} key=${name} name=${name} value=${given[name] ?? ""} />`,
      )}
      <${Input}
        label=${t("tasks.filter.since")}
        type="datetime-local"
        step="1"
        value=${local(given.since)}
        onInput=${(/** @type {string} */ value) => filter({ since: value && new Date(value).toISOString(), cursor: null }, { replace: true })}
      />
      ${
        Object.keys(chosen).length > 0 &&
        html`
          <button
            onClick=${() => filter({ state: null, tag: null, id: null, q: null, error: null, since: null, cursor: null })}
          >
            ${t("tasks.clear")}
          </button>
        `
      }
    </div>
    <div class="chips" role="group" aria-label=${t("tasks.states")}>
      ${STATES.filter(
        (state) =>
          record.data?.counts[state] ||
          states.includes(state) ||
          !["assigned", "pausing", "cancelling", "paused"].includes(state),
      ).map(
        (state) => html`
          <button key=${state} class="chip" aria-pressed=${states.includes(state)} onClick=${() => toggle(state)}>
            <${State} state=${state} />
            <span class="number">${record.data ? short(record.data.counts[state]) : ""}</span>
          </button>
        `,
      )}
    </div>
    <${Card} flush>
      ${
        may("produce", queue) &&
        html`
          <div class="bulk-bar" role="group" aria-label=${t("tasks.bulk")}>
            <span class="muted">${t(Object.keys(chosen).length ? "tasks.all-matching" : "tasks.all-tasks")}</span>
            ${VERBS.map(
              ([name, icon]) => html`
                <${Action}
                  key=${name}
                  allowed=${true}
                  icon=${icon}
                  tone=${name === "clean" ? "small danger" : "small"}
                  onClick=${() => setVerb(name)}
                >
                  ${t(`tasks.verb.${name}`)}…
                </${Action}>
              `,
            )}
          </div>
        `
      }
      <${Loaded} from=${tasks}>
        ${(/** @type {any} */ page) => html`
          <${Table}
            label=${t("tasks.title")}
            rows=${page.items}
            rowKey=${(/** @type {any} */ task) => task.id}
            columns=${columns()}
            empty=${html`<${Empty} icon="tasks">${t(page.ended ? "tasks.none" : "tasks.none-yet")}</${Empty}>`}
          />
          <${Pager} next=${page.next} />
        `}
      </${Loaded}>
    </${Card}>
    ${
      verb &&
      html`
        <${BulkDialog}
          queue=${queue}
          verb=${verb}
          filter=${chosen}
          title=${t(`tasks.bulk-title.${verb}`)}
          typed=${verb === "clean" ? queue : undefined}
          onClose=${() => (setVerb(null), tasks.refresh())}
        />
      `
    }
  `;
}

/** A filter that follows what is typed. @param {{name: string, value: string}} props */
function Typed({ name, value }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => filter({ [name]: text, cursor: null }, { replace: true }), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<${Input} label=${t(`tasks.filter.${name}`)} type="search" value=${text} onInput=${setText} />`;
}

function columns() {
  return [
    {
      label: t("tasks.id"),
      bare: true,
      cell: (/** @type {any} */ task) => html`
        <a class="clip code" href=${href(["queues", task.queue, "tasks", task.id])}>${task.id}</a>
      `,
    },
    {
      label: t("tasks.state"),
      cell: (/** @type {any} */ task) => html`<${State} state=${task.state} />`,
    },
    {
      label: t("tasks.payload"),
      wide: true,
      cell: (/** @type {any} */ task) => html`
        <span class="clip" dir="auto">
          ${
            task.error
              ? html`<span class="bad-text">${task.error.slice(0, 200)}</span>`
              : html`<span class="code muted">${task.payload_preview}</span>`
          }
        </span>
      `,
    },
    {
      label: t("tasks.tags"),
      cell: (/** @type {any} */ task) =>
        task.tags.length > 0 &&
        html`
          <span class="tags">
            ${task.tags.slice(0, 2).map(
              (/** @type {string} */ tag) => html`
                <${Tag} key=${tag} href=${href(["tasks"], { queue: task.queue, tag })}>${tag}</${Tag}>
              `,
            )}${task.tags.length > 2 && html`<span class="muted">+${task.tags.length - 2}</span>`}
          </span>
        `,
    },
    {
      label: t("tasks.attempt"),
      align: "end",
      cell: (/** @type {any} */ task) => html`<span class="number">${tries(task)}</span>`,
    },
    {
      label: t("tasks.worker"),
      cell: (/** @type {any} */ task) =>
        task.progress !== null && !task.finished_at
          ? html`<${Progress} value=${task.progress} label=${t("tasks.progress")} />`
          : task.worker && html`<span class="clip" dir="auto">${task.worker}</span>`,
    },
    {
      label: t("tasks.when"),
      cell: (/** @type {any} */ task) => html`<${Time} at=${task.finished_at ?? task.taken_at ?? task.due_at} />`,
    },
  ];
}
