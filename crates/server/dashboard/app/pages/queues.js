// All queues: how much they hold in each state, how they have been lately, and whether they hand out tasks.

import { html, useState } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { useOnce, useShown } from "../lib/once.js";
import { useResource } from "../lib/resource.js";
import { filter, href, route } from "../lib/router.js";
import { number, t } from "../lib/text.js";
import { Badge, State, Tag } from "../parts/badge.js";
import { Sparkline } from "../parts/chart.js";
import { Dialog } from "../parts/dialog.js";
import { Input, Select } from "../parts/form.js";
import { Pager } from "../parts/pager.js";
import { Empty, Table } from "../parts/table.js";
import { Duration } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Loaded, Page } from "../parts/view.js";

export const MODES = ["pull", "dispatch", "http", "vote", "pub"];
const EVENTS = ["task.*", "bundle.*", "queue.changed", "pub.*"];

/** The number of tasks in some states, as the way to them. @param {any} queue @param {string[]} states @param {string} [tone] */
function count(queue, states, tone = "") {
  const sum = states.reduce((total, state) => total + queue.counts[state], 0);
  if (sum === 0)
    return html`<span class="muted">0</span>`;
  return html`<a class=${tone} href=${href(["tasks"], { queue: queue.name, state: states.join() })}>${number(sum)}</a>`;
}

/** What queues can be sorted by, the most first. @type {Record<string, (queue: any) => number>} */
const SORTS = {
  ready: ({ counts }) => counts.ready,
  running: ({ counts }) => counts.taken,
  failed: ({ counts }) => counts.failed,
  oldest: (queue) => queue.oldest_ready_age ?? -1,
  waiting: ({ counts }) => counts.waiting + counts.paused,
};
const SHOWN = 100;
/** So many pages of a thousand queues are looked through for a name or an order. */
const PAGES_READ = 20;

/** All queues, a thousand at a time. @param {string} path @param {AbortSignal} signal */
async function readAll(path, signal) {
  const address = new URL(path, location.origin);
  const items = [];
  for (let page = 0; page < PAGES_READ; page += 1) {
    const answer = await api.get(address.pathname + address.search, signal);
    items.push(...answer.items);
    if (!answer.next) break;
    address.searchParams.set("cursor", answer.next);
  }
  return { items, next: null };
}

/** Those whose name contains a text, in an order. @param {any[]} items @param {string} name @param {string} sort */
function pick(items, name, sort) {
  const found = items.filter((queue) => queue.name.toLowerCase().includes(name.toLowerCase()));
  const by = SORTS[sort];
  return by ? found.sort((a, b) => by(b) - by(a)) : found;
}

export function Queues() {
  const { query } = route.value;
  const [tag, mode, cursor, name, sort] = /** @type {[string, string, string, string, string]} */ (
    ["tag", "mode", "cursor", "name", "sort"].map((name) => query.get(name) ?? "")
  );
  // Names and counts are not what the API sorts by, so that takes all of them.
  const whole = name !== "" || sort in SORTS;
  const [shown, setShown] = useState(SHOWN);
  const queues = useResource(
    whole ? url`/v1/queues${{ tag, mode, limit: 1000 }}` : url`/v1/queues${{ tag, mode, cursor, limit: SHOWN }}`,
    { types: EVENTS, keep: true, apart: whole ? 3000 : 1000, read: whole ? readAll : api.get },
  );
  const lately = useResource("/v1/stats/queues", { types: EVENTS, apart: 5000 });
  const [making, setMaking] = useState(false);
  const curves = new Map(lately.data?.items.map((/** @type {any} */ item) => [item.queue, item]));

  const toggle = async (/** @type {any} */ queue) => {
    await act(
      () => api.post(url`/v1/queues/${queue.name}/` + (queue.paused ? "resume" : "pause")),
      t(queue.paused ? "queues.resumed" : "queues.paused", { name: queue.name }),
    );
    queues.refresh();
  };

  return html`
    <${Page}
      title=${t("queues.title")}
      actions=${html`
        <${Action} allowed=${may("admin")} icon="plus" tone="primary" onClick=${() => setMaking(true)}>
          ${t("queues.new")}
        </${Action}>
      `}
    >
      <div class="filters">
        <${Input}
          label=${t("queues.name")}
          type="search"
          value=${name}
          onInput=${(/** @type {string} */ value) => filter({ name: value, cursor: null }, { replace: true })}
        />
        <${Select}
          label=${t("queues.sort")}
          value=${sort}
          options=${[["", t("queues.sort.name")], ...Object.keys(SORTS).map((by) => [by, t(`queues.sort.${by}`)])]}
          onInput=${(/** @type {string} */ value) => filter({ sort: value, cursor: null })}
        />
        <${Select}
          label=${t("queues.mode")}
          value=${mode}
          options=${[["", t("queues.any")], ...MODES.map((name) => [name, t(`queues.mode.${name}`)])]}
          onInput=${(/** @type {string} */ value) => filter({ mode: value, cursor: null })}
        />
        <${Input}
          label=${t("queues.tag")}
          type="search"
          value=${tag}
          onInput=${(/** @type {string} */ value) => filter({ tag: value, cursor: null }, { replace: true })}
        />
      </div>
      <${Card} flush>
        <${Loaded} from=${queues}>
          ${(/** @type {any} */ page) => {
            const found = whole ? pick(page.items, name, sort) : page.items;
            return html`
            <${Table}
              label=${t("queues.title")}
              rows=${found.slice(0, shown)}
              rowKey=${(/** @type {any} */ queue) => queue.name}
              empty=${html`<${Empty} icon="queues">${t(tag || mode || name ? "queues.none-match" : "queues.none")}</${Empty}>`}
              columns=${[
                {
                  label: t("shell.queue"),
                  bare: true,
                  wide: true,
                  cell: (/** @type {any} */ queue) => html`
                    <span class="queue-name">
                      <a href=${href(["queues", queue.name])}>${queue.name}</a>
                      ${queue.paused && html`<${State} state="paused" />`}${
                        queue.tag && html`<${Tag} href=${href(["queues"], { tag: queue.tag })}>${queue.tag}</${Tag}>`
                      }
                    </span>
                  `,
                },
                {
                  label: t("queues.mode"),
                  cell: (/** @type {any} */ queue) => html`<${Badge}>${t(`queues.mode.${queue.mode}`)}</${Badge}>`,
                },
                {
                  label: t("state.waiting"),
                  align: "end",
                  cell: (/** @type {any} */ queue) => count(queue, ["waiting", "paused"]),
                },
                { label: t("state.ready"), align: "end", cell: (/** @type {any} */ queue) => count(queue, ["ready"]) },
                {
                  label: t("state.running"),
                  align: "end",
                  cell: (/** @type {any} */ queue) => count(queue, ["assigned", "running", "pausing", "cancelling"]),
                },
                {
                  label: t("state.failed"),
                  align: "end",
                  cell: (/** @type {any} */ queue) => count(queue, ["failed"], "bad-text"),
                },
                {
                  label: t("queues.bundles"),
                  align: "end",
                  cell: (/** @type {any} */ queue) =>
                    queue.counts.bundles
                      ? html`<a href=${href(["bundles"], { queue: queue.name })}>${number(queue.counts.bundles)}</a>`
                      : html`<span class="muted">0</span>`,
                },
                {
                  label: t("queues.oldest"),
                  align: "end",
                  cell: (/** @type {any} */ queue) => html`<${Duration} seconds=${queue.oldest_ready_age} />`,
                },
                {
                  label: t("queues.lately"),
                  cell: (/** @type {any} */ queue) => {
                    const curve = curves.get(queue.name);
                    return html`
                      <${Sparkline}
                        values=${curve?.pushed ?? Array(60).fill(0)}
                        label=${t("queues.lately-label", { n: (curve?.pushed ?? []).reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) })}
                      />
                    `;
                  },
                },
                ...(may("admin")
                  ? [
                      {
                        label: "",
                        cell: (/** @type {any} */ queue) =>
                          may("admin", queue.name) &&
                          html`
                            <button
                              class="small"
                              onClick=${() => toggle(queue)}
                              aria-label=${`${t(queue.paused ? "queues.resume" : "queues.pause")} ${queue.name}`}
                            >
                              ${t(queue.paused ? "queues.resume" : "queues.pause")}
                            </button>
                          `,
                      },
                    ]
                  : []),
              ]}
            />
            ${
              found.length > shown &&
              html`
                <div class="pager">
                  <button onClick=${() => setShown(shown + SHOWN)}>
                    ${t("shell.show-more", { n: found.length - shown })}
                  </button>
                </div>
              `
            }
            ${!whole && html`<${Pager} next=${page.next} />`}
          `;
          }}
        </${Loaded}>
      </${Card}>
      ${making && html`<${NewQueue} onClose=${() => setMaking(false)} />`}
    </${Page}>
  `;
}

/** @param {{onClose: () => void}} props */
function NewQueue({ onClose }) {
  const [name, setName] = useState("");
  const [mode, setMode] = useState("pull");
  const [target, setTarget] = useState("");
  const [[once], wanted] = [useOnce(), useShown()];
  const make = (/** @type {Event} */ event) => {
    event.preventDefault();
    const settings = { mode, ...(mode === "http" && target ? { url: target } : {}) };
    const send = () => api.put(url`/v1/queues/${name}`, settings);
    return once(() => act(send, t("queues.made", { name }), { to: () => [["queues", name]], wanted }));
  };
  return html`
    <${Dialog} title=${t("queues.new")} onClose=${onClose}>
      <form onSubmit=${make}>
        <${Input}
          label=${t("queues.name")}
          value=${name}
          onInput=${setName}
          hint=${t("queues.name-hint")}
          required
          code
        />
        <${Select}
          label=${t("queues.mode")}
          value=${mode}
          options=${MODES.map((mode) => [mode, t(`queues.mode.${mode}`)])}
          onInput=${setMode}
          hint=${t(`queues.mode-hint.${mode}`)}
        />
        ${
          mode === "http" &&
          html`
            <${Input}
              label=${t("queues.url")}
              type="url"
              value=${target}
              onInput=${setTarget}
              hint=${t("queues.url-hint")}
              code
            />
          `
        }
        <footer>
          <button type="button" data-close>${t("shell.cancel")}</button>
          <button class="primary" disabled=${!name}>${t("queues.make")}</button>
        </footer>
      </form>
    </${Dialog}>
  `;
}
