// The system: the server and its store, the servers beside it, its settings, its tokens, and who has done what.

import { html } from "../lib/html.js";
import { access, may, url } from "../lib/api.js";
import { now } from "../lib/clock.js";
import { useResource } from "../lib/resource.js";
import { route } from "../lib/router.js";
import { bytes, number, t } from "../lib/text.js";
import { Badge, Tag } from "../parts/badge.js";
import { Pager } from "../parts/pager.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Action, Card, Facts, Loaded, Page } from "../parts/view.js";

/** A server is heard of every ten seconds. */
const SILENT_MS = 30_000;
const EVENTS = ["queue.changed"];

/** @param {boolean} value */
const yesNo = (value) => t(value ? "system.yes" : "system.no");

export function System() {
  const system = useResource("/v1/system", { types: [...EVENTS, "worker.*"] });
  return html`
    <${Page}
      title=${t("system.title")}
      actions=${html`
        <${Action} allowed=${true} icon="retry" onClick=${system.refresh}>${t("system.refresh")}</${Action}>
      `}
    >
      <${Loaded} from=${system}>
        ${(/** @type {any} */ data) => html`
          <div class="columns">
            <${Card} title=${t("system.server")}>
              <${Facts}
                items=${[
                  [t("system.version"), data.version],
                  [
                    t("system.started"),
                    html`<${Time} at=${data.started_at} />`,
                  ],
                  [t("system.dev"), yesNo(data.dev)],
                ]}
              />
            </${Card}>
            <${Card} title=${t("system.store")}>
              ${
                data.store.problem &&
                html`<div class="callout bad" role="alert"><p dir="auto">${data.store.problem}</p></div>`
              }
              <${Facts}
                items=${[
                  [t("system.kind"), data.store.kind],
                  [
                    t("system.available"),
                    html`
                      <${Badge}
                        tone=${data.store.available ? "good" : "bad"}
                        icon=${data.store.available ? "check" : "failed"}
                      >
                        ${yesNo(data.store.available)}
                      </${Badge}>
                    `,
                  ],
                  [t("system.durability"), data.store.durability],
                  [t("system.bytes"), data.store.bytes === null ? null : bytes(data.store.bytes)],
                  [t("system.queues"), data.store.queues === null ? null : number(data.store.queues)],
                ]}
              />
            </${Card}>
          </div>
          <${Nodes} nodes=${data.nodes} />
        `}
      </${Loaded}>
      ${
        may("admin") &&
        html`
          <${Tokens} />
          <${Audit} />
          <${Configuration} />
        `
      }
    </${Page}>
  `;
}

/** @param {{nodes: any[]}} props */
function Nodes({ nodes }) {
  const silent = (/** @type {any} */ node) => !node.this && now.value - Date.parse(node.seen_at) > SILENT_MS;
  return html`
    <${Card} title=${t("system.nodes")} flush>
      <${Table}
        label=${t("system.nodes")}
        rows=${nodes}
        rowKey=${(/** @type {any} */ node) => node.id}
        columns=${[
          {
            label: t("system.id"),
            bare: true,
            wide: true,
            cell: (/** @type {any} */ node) => html`
              <span class="tags">
                <code>${node.id}</code>
                ${node.this && html`<${Badge} tone="info">${t("system.this")}</${Badge}>`}
              </span>
            `,
          },
          {
            label: t("system.state"),
            cell: (/** @type {any} */ node) => html`
              <${Badge} tone=${silent(node) ? "bad" : "good"} icon=${silent(node) ? "off" : "check"}>
                ${t(silent(node) ? "system.node-lost" : "system.node-ok")}
              </${Badge}>
            `,
          },
          {
            label: t("system.address"),
            cell: (/** @type {any} */ node) => html`<code class="keep">${node.address}</code>`,
          },
          { label: t("system.version"), cell: (/** @type {any} */ node) => node.version },
          {
            label: t("system.started"),
            cell: (/** @type {any} */ node) => html`<${Time} at=${node.started_at} />`,
          },
          {
            label: t("system.seen"),
            cell: (/** @type {any} */ node) => html`<${Time} at=${node.seen_at} only="relative" />`,
          },
        ]}
      />
    </${Card}>
  `;
}

/** A setting as it would be written. @param {unknown} value */
const shown = (value) =>
  value === null
    ? "–"
    : typeof value === "string"
      ? value
      : Array.isArray(value)
        ? value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join(", ") || "–"
        : JSON.stringify(value);

function Configuration() {
  const config = useResource("/v1/system/config");
  return html`
    <${Card}
      title=${t("system.config")}
      actions=${html`<span class="muted">${t("system.config-hint")}</span>`}
      flush
    >
      <${Loaded} from=${config}>
        ${(/** @type {any} */ { items }) => html`
          <${Table}
            label=${t("system.config")}
            rows=${items}
            rowKey=${(/** @type {any} */ item) => item.name}
            columns=${[
              {
                label: t("system.name"),
                bare: true,
                cell: (/** @type {any} */ item) => html`<code class="keep">${item.name}</code>`,
              },
              {
                label: t("system.value"),
                wide: true,
                cell: (/** @type {any} */ item) => html`<span class="code" dir="auto">${shown(item.value)}</span>`,
              },
              {
                label: t("system.source"),
                cell: (/** @type {any} */ item) => html`
                  <${Badge} tone=${item.source === "default" ? "quiet" : "info"}>
                    ${t(`system.source.${item.source}`)}
                  </${Badge}>
                `,
              },
            ]}
          />
        `}
      </${Loaded}>
    </${Card}>
  `;
}

function Tokens() {
  const tokens = useResource("/v1/system/tokens");
  return html`
    <${Card}
      title=${t("system.tokens")}
      actions=${html`<span class="muted">${t("system.tokens-hint")}</span>`}
      flush
    >
      ${
        access.value?.open
          ? html`<${Empty} icon="key">${t("system.open")}</${Empty}>`
          : html`
              <${Loaded} from=${tokens}>
                ${(/** @type {any} */ { items }) => html`
                  <${Table}
                    label=${t("system.tokens")}
                    rows=${items}
                    rowKey=${(/** @type {any} */ item) => item.hash}
                    columns=${[
                      {
                        label: t("system.token"),
                        bare: true,
                        cell: (/** @type {any} */ item) => html`<code>${item.hash}…</code>`,
                      },
                      {
                        label: t("system.rights"),
                        cell: (/** @type {any} */ item) => html`
                          <span class="tags">
                            ${item.rights.map(
                              (/** @type {string} */ right) => html`<${Tag} key=${right}>${right}</${Tag}>`,
                            )}
                          </span>
                        `,
                      },
                      {
                        label: t("system.queues"),
                        wide: true,
                        cell: (/** @type {any} */ item) =>
                          item.queues === null
                            ? html`<span class="muted">${t("system.queues-all")}</span>`
                            : html`
                                <span class="tags">
                                  ${item.queues.map(
                                    (/** @type {string} */ queue) => html`<${Tag} key=${queue}>${queue}</${Tag}>`,
                                  )}
                                </span>
                              `,
                      },
                    ]}
                  />
                `}
              </${Loaded}>
            `
      }
    </${Card}>
  `;
}

function Audit() {
  const audit = useResource(url`/v1/system/audit${{ limit: 50, cursor: route.value.query.get("cursor") }}`, {
    types: EVENTS,
  });
  return html`
    <${Card} title=${t("system.audit")} flush>
      <${Loaded} from=${audit}>
        ${(/** @type {any} */ page) => html`
          <${Table}
            label=${t("system.audit")}
            rows=${page.items}
            rowKey=${(/** @type {any} */ item) => `${item.at} ${item.action} ${item.target}`}
            columns=${[
              {
                label: t("system.at"),
                cell: (/** @type {any} */ item) => html`<${Time} at=${item.at} />`,
              },
              {
                label: t("system.action"),
                bare: true,
                cell: (/** @type {any} */ item) => html`<strong>${item.action}</strong>`,
              },
              {
                label: t("system.target"),
                wide: true,
                cell: (/** @type {any} */ item) => html`<span class="clip code" dir="auto">${item.target}</span>`,
              },
              {
                label: t("system.who"),
                cell: (/** @type {any} */ item) =>
                  item.who
                    ? html`<code>${item.who}</code>`
                    : html`<span class="muted">–</span>`,
              },
              {
                label: t("system.from"),
                cell: (/** @type {any} */ item) => html`<code class="keep">${item.from}</code>`,
              },
              {
                label: t("system.status"),
                align: "end",
                cell: (/** @type {any} */ item) => html`
                  <code class=${item.status >= 400 ? "bad-text" : ""}>${item.status}</code>
                `,
              },
            ]}
            empty=${html`<${Empty} icon="system">${t("system.audit-none")}</${Empty}>`}
          />
          <${Pager} next=${page.next} />
        `}
      </${Loaded}>
    </${Card}>
  `;
}
