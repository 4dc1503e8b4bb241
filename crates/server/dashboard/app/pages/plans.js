// Plans: what runs by the calendar, when next, and how it went last.

import { html } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { useResource } from "../lib/resource.js";
import { filter, href, route } from "../lib/router.js";
import { ruleWords } from "../lib/rule.js";
import { t } from "../lib/text.js";
import { State } from "../parts/badge.js";
import { Input, Select } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { Pager } from "../parts/pager.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Loaded, Page } from "../parts/view.js";

export const STATES = ["scheduled", "running", "paused", "error", "finished"];

/** Whether a plan waits to be told to go on. @param {any} plan */
export const stands = (plan) => plan.state === "paused" || plan.state === "error";

export function Plans() {
  const { query } = route.value;
  const [station, state, order] = ["station", "state", "order"].map((name) => query.get(name) ?? "");
  const plans = useResource(url`/v1/plans${{ station, state, order, limit: 100, cursor: query.get("cursor") }}`, {
    types: ["plan.*"],
  });
  const set =
    (/** @type {string} */ name, replace = false) =>
    (/** @type {string} */ value) =>
      filter({ [name]: value, cursor: null }, { replace });
  const verb = async (/** @type {any} */ plan, /** @type {string} */ name) => {
    await act(() => api.post(url`/v1/plans/${plan.plan_id}/${name}`), t(`plans.did.${name}`, { id: plan.plan_id }));
    plans.refresh();
  };
  const columns = [
    {
      label: t("plans.plan"),
      bare: true,
      cell: (/** @type {any} */ plan) => html`
        <span class="plan-name">
          <a href=${href(["plans", plan.plan_id])}>${plan.plan_id}</a>
          ${
            plan.description &&
            html`<span class="clip muted" dir="auto" title=${plan.description}>${plan.description}</span>`
          }
        </span>
      `,
    },
    {
      label: t("plans.rule"),
      wide: true,
      cell: (/** @type {any} */ plan) => html`<span class="plan-words" dir="auto">${ruleWords(plan)}</span>`,
    },
    {
      label: t("plans.state"),
      cell: (/** @type {any} */ plan) => html`<${State} state=${plan.state} />`,
    },
    {
      label: t("plans.next"),
      cell: (/** @type {any} */ plan) => html`<span class="two-lines"><${Time} at=${plan.next_at} /></span>`,
    },
    {
      label: t("plans.last"),
      cell: (/** @type {any} */ plan) =>
        plan.last_state
          ? html`<${State} state=${plan.last_state} />`
          : html`<span class="muted">–</span>`,
    },
    {
      label: t("plans.station"),
      cell: (/** @type {any} */ plan) => html`
        <a class="clip station" href=${href(["queues", plan.station])}>${plan.station}</a>
      `,
    },
    ...(may("produce")
      ? [
          {
            label: "",
            cell: (/** @type {any} */ plan) =>
              may("produce", plan.station) &&
              plan.state !== "finished" &&
              html`
                <button
                  class="small"
                  aria-label=${`${t(`plans.verb.${stands(plan) ? "resume" : "pause"}`)} ${plan.plan_id}`}
                  title=${t(`plans.verb.${stands(plan) ? "resume" : "pause"}`)}
                  onClick=${() => verb(plan, stands(plan) ? "resume" : "pause")}
                >
                  <${Icon} name=${stands(plan) ? "play" : "pause"} />
                </button>
              `,
          },
        ]
      : []),
  ];
  return html`
    <${Page}
      title=${t("plans.title")}
      actions=${html`
        <${Action} allowed=${may("produce")} icon="plus" tone="primary" href=${href(["new-plan"])}>
          ${t("plans.add")}
        </${Action}>
      `}
    >
      <div class="filters">
        <${Input} label=${t("plans.station")} type="search" value=${station} onInput=${set("station", true)} />
        <${Select}
          label=${t("plans.state")}
          value=${state}
          onInput=${set("state")}
          options=${[["", t("plans.states")], ...STATES.map((name) => [name, t(`state.${name}`)])]}
        />
        <${Select}
          label=${t("plans.order")}
          value=${order}
          onInput=${set("order")}
          options=${[
            ["", t("plans.order.name")],
            ["next", t("plans.order.next")],
          ]}
        />
      </div>
      <${Card} flush>
        <${Loaded} from=${plans}>
          ${(/** @type {any} */ page) => html`
            <${Table}
              label=${t("plans.title")}
              rows=${page.items}
              rowKey=${(/** @type {any} */ plan) => plan.plan_id}
              columns=${columns}
              empty=${html`
                <${Empty} icon="plans">${t(station || state ? "plans.none-match" : "plans.none")}</${Empty}>
              `}
            />
            <${Pager} next=${page.next} />
          `}
        </${Loaded}>
      </${Card}>
    </${Page}>
  `;
}
