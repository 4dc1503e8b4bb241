// Bundles: payloads that are collected, and dealt with together when they are due.

import { html } from "../lib/html.js";
import { may, url } from "../lib/api.js";
import { useResource } from "../lib/resource.js";
import { filter, href, route } from "../lib/router.js";
import { number, t } from "../lib/text.js";
import { State } from "../parts/badge.js";
import { Input, Select } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Pager } from "../parts/pager.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Card, Loaded, Page } from "../parts/view.js";
import { EVENTS, makeDue, nameOf, verbOf } from "./bundle.js";

const STATES = ["waiting", "started", "locked", "delivering", "failed"];

/** The queue of bundles that nobody has named. */
const DEFAULT = "bundles";

export function Bundles() {
  const { query } = route.value;
  const queues = useResource("/v1/queues?limit=1000", { types: ["queue.changed", "bundle.*"], apart: 3000 });
  const counted = /** @type {{name: string, counts: any}[]} */ (queues.data?.items ?? []).filter(
    (queue) => queue.counts.bundles > 0,
  );
  const fullest = counted.toSorted((a, b) => b.counts.bundles - a.counts.bundles)[0]?.name;
  const queue = query.get("queue") || fullest || (may("read", DEFAULT) ? DEFAULT : null);
  const none = html`
    <${Page} title=${t("bundles.title")}><${Empty} icon="bundles">${t("bundles.none")}</${Empty}></${Page}>
  `;
  return html`
    <${Loaded} from=${queues}>
      ${() => (queue ? html`<${List} key=${queue} queue=${queue} counted=${counted} />` : none)}
    </${Loaded}>
  `;
}

/** @param {{queue: string, counted: {name: string, counts: any}[]}} props */
function List({ queue, counted }) {
  const { query } = route.value;
  const [state, key] = [query.get("state") ?? "", query.get("key") ?? ""];
  const bundles = useResource(
    url`/v1/queues/${queue}/bundles${{ state, key, limit: 100, cursor: query.get("cursor") }}`,
    { types: EVENTS, queue },
  );
  const options = [...new Set([queue, ...(may("read", DEFAULT) ? [DEFAULT] : []), ...counted.map(({ name }) => name)])]
    .sort()
    .map((name) => [name, `${name} (${number(counted.find((one) => one.name === name)?.counts.bundles ?? 0)})`]);
  const columns = [
    {
      label: t("bundles.bundle"),
      bare: true,
      wide: true,
      cell: (/** @type {any} */ bundle) => html`
        <a class="clip" dir="auto" title=${bundle.key} href=${href(["bundles", queue, bundle.key])}>
          ${nameOf(bundle)}
        </a>
        ${bundle.url && html`<span class="clip muted" dir="auto">${bundle.method} ${bundle.url}</span>`}
      `,
    },
    {
      label: t("bundles.state"),
      cell: (/** @type {any} */ bundle) => html`<${State} state=${bundle.state} />`,
    },
    {
      label: t("bundles.size"),
      align: "end",
      cell: (/** @type {any} */ bundle) => html`<span class="number">${number(bundle.size)}</span>`,
    },
    {
      label: t("bundles.when"),
      cell: (/** @type {any} */ bundle) => html`<${Time} at=${bundle.ontime} />`,
    },
    {
      label: t("bundles.attempt"),
      align: "end",
      cell: (/** @type {any} */ bundle) => html`<span class="number">${bundle.attempt}</span>`,
    },
    {
      label: t("bundles.error"),
      cell: (/** @type {any} */ bundle) =>
        bundle.error !== null &&
        html`
          <span class="clip brief bad-text" dir="auto" title=${bundle.error.slice(0, 2000)}>
            ${bundle.error.slice(0, 300)}
          </span>
        `,
    },
    ...(may("produce", queue)
      ? [
          {
            label: "",
            cell: (/** @type {any} */ bundle) =>
              verbOf(bundle) &&
              html`
                <button
                  class="small"
                  aria-label=${`${t(`bundles.${verbOf(bundle)}`)} ${nameOf(bundle)}`}
                  title=${t(`bundles.${verbOf(bundle)}`)}
                  onClick=${async () => (await makeDue(bundle), bundles.refresh())}
                >
                  <${Icon} name="play" />
                </button>
              `,
          },
        ]
      : []),
  ];
  return html`
    <${Page} title=${t("bundles.title")}>
      <div class="filters">
        <${Select}
          label=${t("bundles.queue")}
          value=${queue}
          onInput=${(/** @type {string} */ value) => filter({ queue: value, cursor: null })}
          options=${options}
        />
        <${Select}
          label=${t("bundles.state")}
          value=${state}
          onInput=${(/** @type {string} */ value) => filter({ state: value, cursor: null })}
          options=${[["", t("bundles.all")], ...STATES.map((name) => [name, t(`state.${name}`)])]}
        />
        <${Input}
          label=${t("bundles.key")}
          type="search"
          value=${key}
          onInput=${(/** @type {string} */ value) => filter({ key: value, cursor: null }, { replace: true })}
        />
      </div>
      <${Card} flush>
        <${Loaded} from=${bundles}>
          ${(/** @type {any} */ page) => html`
            <${Table}
              label=${t("bundles.title")}
              rows=${page.items}
              rowKey=${(/** @type {any} */ bundle) => bundle.key}
              columns=${columns}
              empty=${html`
                <${Empty} icon="bundles">${t(state || key ? "bundles.none-match" : "bundles.none")}</${Empty}>
              `}
            />
            <${Pager} next=${page.next} />
          `}
        </${Loaded}>
      </${Card}>
    </${Page}>
  `;
}
