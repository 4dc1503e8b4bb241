// One plan: its rule in words, when it runs, how its runs went, and what can be done with it.

import { html, useMemo } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { duration } from "../lib/clock.js";
import { member, parse, raw } from "../lib/json.js";
import { useResource } from "../lib/resource.js";
import { href, route } from "../lib/router.js";
import { ruleWords } from "../lib/rule.js";
import { number, t } from "../lib/text.js";
import { clockChange, localClock, localDate, ownZone } from "../lib/zone.js";
import { Badge, State, Tag } from "../parts/badge.js";
import { Calendar, changeWords } from "../parts/calendar.js";
import { confirm } from "../parts/dialog.js";
import { JsonTree } from "../parts/json-tree.js";
import { Pager } from "../parts/pager.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Facts, Loaded, Page } from "../parts/view.js";
import { stands } from "./plans.js";

const EVENTS = ["plan.*"];
const MANY = 1000;

/** A plan with its payload and request as they were written. @param {string} path @param {AbortSignal} signal */
export async function readPlan(path, signal) {
  const text = await api.text(path, signal);
  const root = parse(text);
  return { plan: JSON.parse(text), message: raw(text, member(root, "message")), http: raw(text, member(root, "http")) };
}

/** Results, each as it was written. @param {string} path @param {AbortSignal} signal */
async function readResults(path, signal) {
  const text = await api.text(path, signal);
  const { items, next } = JSON.parse(text);
  const nodes = member(parse(text), "items")?.items ?? [];
  return {
    items: items.map((/** @type {any} */ item, /** @type {number} */ index) => ({
      ...item,
      written: raw(text, member(/** @type {any} */ (nodes[index]), "result")),
    })),
    next,
  };
}

/** @param {{id: string}} props */
export function Plan({ id }) {
  const path = url`/v1/plans/${id}`;
  const read = useResource(path, { types: EVENTS, read: readPlan });
  const times = useResource(read.data ? `${path}/occurrences?n=${MANY}` : null, { types: EVENTS });
  const recent = useResource(read.data ? `${path}/results?limit=${MANY}` : null, { types: EVENTS, apart: 3000 });
  const plan = read.data?.plan;
  const past = useMemo(
    () =>
      (recent.data?.items ?? []).map((/** @type {any} */ run) => ({
        at: run.plan_time ?? run.at,
        bad: run.error !== null,
      })),
    [recent.data],
  );
  const allowed = plan && may("produce", plan.station);

  const verb = async (/** @type {string} */ name) => {
    await act(() => api.post(`${path}/${name}`), t(`plans.did.${name}`, { id }));
    read.refresh();
    times.refresh();
  };
  const remove = async () => {
    if (
      !(await confirm({
        title: t("plans.delete-title"),
        body: t("plans.delete-text"),
        action: t("plans.delete"),
        danger: true,
        typed: id,
      }))
    )
      return;
    await act(() => api.delete(path), t("plans.deleted", { id }), { to: () => [["plans"]] });
  };

  return html`
    <${Page}
      title=${id}
      above=${[{ label: t("plans.title"), href: href(["plans"]) }]}
      beside=${plan && html`<${State} state=${plan.state} />`}
      actions=${
        plan &&
        html`
          <${Action}
            allowed=${allowed}
            icon="play"
            tone="primary"
            onClick=${() => verb("run")}
          >
            ${t("plans.run")}
          </${Action}>
          <${Action}
            allowed=${allowed && plan.state !== "finished"}
            icon=${stands(plan) ? "play" : "pause"}
            onClick=${() => verb(stands(plan) ? "resume" : "pause")}
          >
            ${t(`plans.verb.${stands(plan) ? "resume" : "pause"}`)}
          </${Action}>
          <${Action} allowed=${allowed && plan.state === "scheduled" && plan.next_at !== null} icon="skip" onClick=${() => verb("skip")}>
            ${t("plans.skip")}
          </${Action}>
          <${Action} allowed=${allowed} icon="edit" href=${href(["plans", id, "edit"])}>
            ${t("plans.edit")}
          </${Action}>
          <${Action} allowed=${allowed} tone="danger" onClick=${remove}>${t("plans.delete")}</${Action}>
        `
      }
    >
      <${Loaded} from=${read}>
        ${() => html`
          <p class="plan-rule" dir="auto">
            ${ruleWords(plan)}${plan.description && html`<span class="muted">${" · "}${plan.description}</span>`}
          </p>
          ${
            plan.error &&
            html`
              <div class="callout bad" role="note">
                <h2>${t("plans.error")}</h2>
                <pre dir="auto">${plan.error}</pre>
              </div>
            `
          }
          <div class="plan-columns">
            <${Card} title=${t("plans.calendar")}>
              <${Calendar}
                zone=${plan.timezone ?? "UTC"}
                times=${stands(plan) ? [] : (times.data?.items ?? [])}
                more=${!stands(plan) && times.data?.items.length === MANY}
                past=${past}
              />
            </${Card}>
            <div class="stack">
              <${Card} title=${t(stands(plan) ? "plans.resumed-runs" : "plans.next-runs")}>
                ${stands(plan) && html`<p class="callout warn" role="note">${t(`plans.stands.${plan.state}`)}</p>`}
                <${Loaded} from=${times}>
                  ${(/** @type {any} */ { items }) => html`
                    <${NextRuns}
                      times=${items.slice(0, 10)}
                      zone=${plan.timezone ?? "UTC"}
                      empty=${t("plans.no-more")}
                    />
                  `}
                </${Loaded}>
              </${Card}>
              <${Card} title=${t("plans.facts")}><${Facts} items=${facts(plan)} /></${Card}>
            </div>
          </div>
          <${History} id=${id} station=${plan.station} />
          ${
            read.data?.message !== "null" &&
            html`
              <${Card} title=${t("plans.message")}>
                <${JsonTree} text=${read.data?.message ?? "null"} label=${t("plans.message")} />
              </${Card}>
            `
          }
          ${
            plan.http &&
            html`
              <${Card} title=${t("plans.http")}>
                <${JsonTree} text=${read.data?.http ?? "null"} label=${t("plans.http")} />
              </${Card}>
            `
          }
        `}
      </${Loaded}>
    </${Page}>
  `;
}

/** @param {any} plan @returns {[string, any][]} */
function facts(plan) {
  return [
    [
      t("plans.station"),
      html`<a href=${href(["queues", plan.station])}>${plan.station}</a>`,
    ],
    [
      t("plans.runs"),
      plan.plan_repet > 0 ? t("plans.runs-of", { n: plan.real_repet, all: plan.plan_repet }) : number(plan.real_repet),
    ],
    [t("plans.skipped"), number(plan.skipped)],
    [
      t("plans.last"),
      plan.last_state && html`<${State} state=${plan.last_state} />`,
    ],
    [
      t("plans.exec"),
      plan.exec_time && html`<${Time} at=${plan.exec_time} />`,
    ],
    [
      t("shell.task"),
      plan.task && html`<a class="code" href=${href(["queues", plan.station, "tasks", plan.task])}>${plan.task}</a>`,
    ],
    [
      t("plans.cron"),
      plan.cron && html`<code>${plan.cron}</code>`,
    ],
    [t("plans.timezone"), plan.timezone],
    [
      t("plans.no_keep"),
      plan.no_keep
        ? html`<${Badge} icon="check" tone="info">${t("plans.yes")}</${Badge}>`
        : null,
    ],
    [t("plans.bundle_key"), plan.bundle_key],
    [t("plans.hold"), plan.hold === null ? null : duration(plan.hold)],
    [t("plans.max_attempts"), plan.max_attempts],
    [t("plans.priority"), plan.priority || null],
    [
      t("plans.tags"),
      plan.tags.length > 0
        ? html`
            <span class="tags">
              ${plan.tags.map((/** @type {string} */ tag) => html`<${Tag} key=${tag}>${tag}</${Tag}>`)}
            </span>
          `
        : null,
    ],
    [
      t("plans.made"),
      html`<${Time} at=${plan.created_at} />`,
    ],
  ];
}

/**
 * Times, in the zone of the plan and in the viewer's.
 * @param {{times: string[], zone: string, empty: string}} props
 */
export function NextRuns({ times, zone, empty }) {
  if (times.length === 0)
    return html`<p class="muted">${empty}</p>`;
  const away = times.some((time) => localClock(zone, Date.parse(time)) !== localClock(ownZone(), Date.parse(time)));
  return html`
    <ol class="next-runs">
      ${times.map((time, index) => {
        const date = localDate(zone, Date.parse(time));
        const change = clockChange(zone, Date.parse(`${date}T00:00:00Z`));
        return html`
          <li key=${`${time} ${index}`}>
            <${Time} at=${time} />
            ${
              away &&
              html`
                <span class="muted local" title=${zone}>${date.slice(5)} ${localClock(zone, Date.parse(time))}</span>
              `
            }
            ${change !== 0 && html`<${Badge} tone="warn" icon="clock">${changeWords(change)}</${Badge}>`}
          </li>
        `;
      })}
    </ol>
  `;
}

/** @param {{id: string, station: string}} props */
function History({ id, station }) {
  const results = useResource(url`/v1/plans/${id}/results${{ limit: 20, cursor: route.value.query.get("cursor") }}`, {
    types: EVENTS,
    read: readResults,
  });
  const columns = [
    {
      label: t("plans.run-number"),
      cell: (/** @type {any} */ run) => html`
        <a href=${href(["queues", station, "tasks", `${id}@${run.run}`])}>${run.run}</a>
      `,
    },
    {
      label: t("plans.outcome"),
      cell: (/** @type {any} */ run) => html`<${State} state=${run.error === null ? "ok" : "failed"} />`,
    },
    {
      label: t("plans.when"),
      cell: (/** @type {any} */ run) => html`<${Time} at=${run.plan_time} />`,
    },
    {
      label: t("plans.worker"),
      cell: (/** @type {any} */ run) =>
        run.worker
          ? html`<span dir="auto">${run.worker}</span>`
          : html`<span class="muted">–</span>`,
    },
    {
      label: t("plans.result"),
      wide: true,
      cell: (/** @type {any} */ run) =>
        run.error !== null
          ? html`
              <span class="clip bad-text" dir="auto" title=${run.error.slice(0, 2000)}>${run.error.slice(0, 500)}</span>
            `
          : html`<code class="clip" dir="auto" title=${run.written.slice(0, 2000)}>${run.written.slice(0, 500)}</code>`,
    },
  ];
  return html`
    <${Card} title=${t("plans.history")} flush>
      <${Loaded} from=${results}>
        ${(/** @type {any} */ page) => html`
          <${Table}
            label=${t("plans.history")}
            rows=${page.items}
            rowKey=${(/** @type {any} */ run) => `${run.run} ${run.at} ${run.worker}`}
            columns=${columns}
            empty=${html`<${Empty} icon="clock">${t("plans.not-run")}</${Empty}>`}
          />
          <${Pager} next=${page.next} />
        `}
      </${Loaded}>
    </${Card}>
  `;
}
