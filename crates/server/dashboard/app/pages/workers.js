// Workers: who is registered, how much each has to do, and when it was last heard of.

import { html } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { useResource } from "../lib/resource.js";
import { filter, href, route } from "../lib/router.js";
import { t } from "../lib/text.js";
import { State, Tag } from "../parts/badge.js";
import { confirm } from "../parts/dialog.js";
import { Input, Select } from "../parts/form.js";
import { Pager } from "../parts/pager.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Card, Loaded, Page } from "../parts/view.js";

const STATES = ["active", "draining", "lost"];

/** Whether the token may tell a worker what to do. @param {any} worker */
export const mayTell = (worker) => worker.queues.every((/** @type {string} */ queue) => may("consume", queue));

/** Asks, then gives a worker nothing more. @param {string} name */
export async function drain(name) {
  if (
    !(await confirm({
      title: t("workers.drain-title", { name }),
      body: t("workers.drain-text"),
      action: t("workers.drain"),
    }))
  )
    return;
  await act(() => api.post(url`/v1/workers/${name}/drain`), t("workers.did-drain", { name }));
}

export function Workers() {
  const { query } = route.value;
  const [queue, state] = [query.get("queue") ?? "", query.get("state") ?? ""];
  const workers = useResource(url`/v1/workers${{ queue, state, limit: 100, cursor: query.get("cursor") }}`, {
    types: ["worker.*", "task.*"],
    apart: 2000,
  });
  const columns = [
    {
      label: t("workers.name"),
      bare: true,
      cell: (/** @type {any} */ worker) => html`
        <a class="clip station" dir="auto" href=${href(["workers", worker.name])}>${worker.name}</a>
      `,
    },
    {
      label: t("workers.state"),
      cell: (/** @type {any} */ worker) => html`<${State} state=${worker.state} />`,
    },
    {
      label: t("workers.load"),
      cell: (/** @type {any} */ worker) => html`<${Load} worker=${worker} />`,
    },
    {
      label: t("workers.queues"),
      cell: (/** @type {any} */ worker) => html`
        <${Some} names=${worker.queues} link=${(/** @type {string} */ name) => href(["queues", name])} />
      `,
    },
    {
      label: t("workers.capabilities"),
      wide: true,
      cell: (/** @type {any} */ worker) =>
        worker.capabilities.length > 0 && html`<${Some} names=${worker.capabilities} />`,
    },
    {
      label: t("workers.heartbeat"),
      cell: (/** @type {any} */ worker) => html`<span class="two-lines"><${Time} at=${worker.last_heartbeat} /></span>`,
    },
    ...(may("consume")
      ? [
          {
            label: "",
            cell: (/** @type {any} */ worker) =>
              worker.state === "active" &&
              mayTell(worker) &&
              html`
                <button
                  class="small"
                  aria-label=${`${t("workers.drain")} ${worker.name}`}
                  onClick=${async () => (await drain(worker.name), workers.refresh())}
                >
                  ${t("workers.drain")}
                </button>
              `,
          },
        ]
      : []),
  ];
  return html`
    <${Page} title=${t("workers.title")}>
      <div class="filters">
        <${Input}
          label=${t("shell.queue")}
          type="search"
          value=${queue}
          onInput=${(/** @type {string} */ value) => filter({ queue: value, cursor: null }, { replace: true })}
        />
        <${Select}
          label=${t("workers.state")}
          value=${state}
          onInput=${(/** @type {string} */ value) => filter({ state: value, cursor: null })}
          options=${[["", t("workers.all")], ...STATES.map((name) => [name, t(`state.${name}`)])]}
        />
      </div>
      <${Card} flush>
        <${Loaded} from=${workers}>
          ${(/** @type {any} */ page) => html`
            <${Table}
              label=${t("workers.title")}
              rows=${page.items}
              rowKey=${(/** @type {any} */ worker) => worker.name}
              columns=${columns}
              empty=${html`
                <${Empty} icon="workers">${t(queue || state ? "workers.none-match" : "workers.none")}</${Empty}>
              `}
            />
            <${Pager} next=${page.next} />
          `}
        </${Loaded}>
      </${Card}>
    </${Page}>
  `;
}

/** How many of its places are taken. @param {{worker: any}} props */
export function Load({ worker: { load, capacity } }) {
  const label = t("workers.load-words", { load, capacity });
  return html`
    <span class="steps" title=${label}>
      <progress max=${capacity} value=${load} aria-label=${label}></progress>
      <span class="number">
        ${load}
        <span class="muted">${" / "}${capacity}</span>
      </span>
    </span>
  `;
}

/** The first few of many names. @param {{names: string[], link?: (name: string) => string}} props */
function Some({ names, link }) {
  return html`
    <span class="tags">
      ${names.slice(0, 3).map((name) => html`<${Tag} key=${name} href=${link?.(name)}>${name}</${Tag}>`)}${
        names.length > 3 &&
        html`<span class="muted" title=${names.slice(3, 100).join(", ")}>+${names.length - 3}</span>`
      }
    </span>
  `;
}
