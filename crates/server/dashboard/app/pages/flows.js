// Flows: steps that wait for each other, and how far they are.

import { html } from "../lib/html.js";
import { url } from "../lib/api.js";
import { useResource } from "../lib/resource.js";
import { filter, href, route } from "../lib/router.js";
import { t } from "../lib/text.js";
import { State } from "../parts/badge.js";
import { Select } from "../parts/form.js";
import { Pager } from "../parts/pager.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Card, Loaded, Page } from "../parts/view.js";

const STATES = ["running", "paused", "cancelling", "failed", "cancelled", "done"];

export function Flows() {
  const { query } = route.value;
  const state = query.get("state") ?? "";
  const flows = useResource(url`/v1/flows${{ state, limit: 100, cursor: query.get("cursor") }}`, {
    types: ["flow.*", "task.committed", "task.failed"],
    apart: 2000,
  });
  const columns = [
    {
      label: t("flows.flow"),
      bare: true,
      wide: true,
      cell: (/** @type {any} */ flow) => html`<a class="clip" href=${href(["flows", flow.id])}>${flow.id}</a>`,
    },
    {
      label: t("flows.state"),
      cell: (/** @type {any} */ flow) => html`<${State} state=${flow.state} />`,
    },
    {
      label: t("flows.steps"),
      cell: (/** @type {any} */ flow) => html`<${Steps} counts=${flow.counts} />`,
    },
    {
      label: t("flows.made"),
      cell: (/** @type {any} */ flow) => html`<${Time} at=${flow.created_at} />`,
    },
    {
      label: t("flows.finished"),
      cell: (/** @type {any} */ flow) => html`<${Time} at=${flow.finished_at} />`,
    },
  ];
  return html`
    <${Page} title=${t("flows.title")}>
      <div class="filters">
        <${Select}
          label=${t("flows.state")}
          value=${state}
          onInput=${(/** @type {string} */ value) => filter({ state: value, cursor: null })}
          options=${[["", t("flows.all")], ...STATES.map((name) => [name, t(`state.${name}`)])]}
        />
      </div>
      <${Card} flush>
        <${Loaded} from=${flows}>
          ${(/** @type {any} */ page) => html`
            <${Table}
              label=${t("flows.title")}
              rows=${page.items}
              rowKey=${(/** @type {any} */ flow) => flow.id}
              columns=${columns}
              empty=${html`<${Empty} icon="flows">${t(state ? "flows.none-match" : "flows.none")}</${Empty}>`}
            />
            <${Pager} next=${page.next} />
          `}
        </${Loaded}>
      </${Card}>
    </${Page}>
  `;
}

/** How many steps are in which state, as a bar and in words. @param {{counts: any}} props */
export function Steps({ counts }) {
  const label = t("flows.progress", { done: counts.done, total: counts.total });
  return html`
    <span class="steps" title=${label}>
      <span class="steps-bar" role="img" aria-label=${label}>
        ${[
          ["good", counts.done],
          ["bad", counts.failed],
          ["active", counts.living],
          ["quiet", counts.cancelled],
          ["rest", counts.pending],
        ].map(
          ([tone, n]) =>
            n > 0 && html`<span key=${tone} class=${tone} style=${{ flexGrow: n }}></span>`,
        )}
      </span>
      <span class="number">
        ${counts.done}
        <span class="muted">${" / "}${counts.total}</span>
      </span>
    </span>
  `;
}
