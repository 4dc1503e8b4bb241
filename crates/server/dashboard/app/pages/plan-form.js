// Making and changing a plan. What a rule means is told while it is typed: in words, and by its next ten runs.

import { html, useEffect, useId, useRef, useState } from "../lib/html.js";
import { api, ApiError, may, url } from "../lib/api.js";
import { fault, pretty } from "../lib/json.js";
import { useOnce } from "../lib/once.js";
import { useResource } from "../lib/resource.js";
import { href } from "../lib/router.js";
import { ruleWords, weekday } from "../lib/rule.js";
import { t } from "../lib/text.js";
import { localClock, moment, ownZone, shortClock, wallClock } from "../lib/zone.js";
import { Calendar } from "../parts/calendar.js";
import { Input, Select } from "../parts/form.js";
import { Empty } from "../parts/table.js";
import { act, complain } from "../parts/toast.js";
import { useUnsaved } from "../parts/unsaved.js";
import { Card, Loaded, Page } from "../parts/view.js";
import { NextRuns, readPlan } from "./plan.js";

const TYPES = ["none", "time", "second", "minute", "hour", "day", "week", "month", "cron"];
const INTERVALS = ["second", "minute", "hour", "day"];
/** Kinds of rules that go by the clocks of a zone. */
const LOCAL = ["day", "week", "month", "cron"];
const PREVIEW_MS = 200;

/** @typedef {Record<string, string>} Form every field as it is typed */

/** @returns {Form} */
const blank = () => ({
  plan_id: "",
  description: "",
  station: "",
  plan_type: "day",
  plan_value: "1",
  plan_time: "",
  plan_repet: "",
  no_keep: "",
  timezone: ownZone(),
  cron: "0 9 * * MON-FRI",
  message: "{}",
  bundle_key: "",
  hold: "",
  max_attempts: "",
  priority: "",
  tags: "",
  keep_results: "",
  on_error: "continue",
  stop_after: "3",
  http: "",
});

/** The form of a plan that is there. @param {{plan: any, message: string, http: string}} read @returns {Form} */
function filled({ plan, message, http }) {
  const text = (/** @type {any} */ value) => (value === null || value === undefined ? "" : String(value));
  const zone = zoneOf({ ...plan, timezone: plan.timezone ?? "UTC" });
  const at = typeof plan.plan_time === "string" && !/^\d\d:/.test(plan.plan_time) ? Date.parse(plan.plan_time) : NaN;
  const ofDay = plan.plan_type === "week" || plan.plan_type === "month";
  const time = Number.isNaN(at)
    ? shortClock(plan.plan_time || "")
    : ofDay
      ? localClock(zone, at)
      : new Date(wallClock(zone, at)).toISOString().slice(0, 19);
  return {
    ...Object.fromEntries(
      [
        "plan_id",
        "description",
        "station",
        "plan_type",
        "plan_value",
        "timezone",
        "cron",
        "bundle_key",
        "hold",
        "max_attempts",
        "keep_results",
      ].map((name) => [name, text(plan[name])]),
    ),
    plan_time: time,
    plan_repet: plan.plan_repet > 0 ? text(plan.plan_repet) : "",
    no_keep: plan.no_keep ? "yes" : "",
    on_error: typeof plan.on_error === "object" ? "stop_after" : plan.on_error,
    stop_after: text(plan.on_error?.stop_after ?? 3),
    priority: text(plan.priority || ""),
    tags: plan.tags.join(", "),
    message: pretty(message),
    http: http === "null" ? "" : pretty(http),
  };
}

/** The zone that the times of a form are in. @param {Form} form */
const zoneOf = (form) => (LOCAL.includes(form.plan_type ?? "") ? form.timezone || "UTC" : ownZone());

/** The rule of a form, as the API takes it. @param {Form} form @returns {Record<string, unknown>} */
function ruleOf(form) {
  const { plan_type: type = "none", plan_time: time = "", plan_value: value = "" } = form;
  const number = (/** @type {string} */ text) =>
    text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text || null;
  const dated = type === "time" || INTERVALS.includes(type);
  const at = dated && time ? moment(zoneOf(form), Date.parse(`${time}Z`)) : NaN;
  return {
    plan_type: type,
    ...(type === "none" || type === "time" || type === "cron" ? {} : { plan_value: number(value) }),
    ...(dated
      ? Number.isNaN(at)
        ? {}
        : { plan_time: new Date(at).toISOString() }
      : type === "week" || type === "month"
        ? { plan_time: time || "00:00" }
        : {}),
    ...(type === "none" || type === "time" ? {} : { plan_repet: form.plan_repet ? number(form.plan_repet) : -1 }),
    ...(LOCAL.includes(type) ? { timezone: form.timezone || "UTC" } : {}),
    ...(type === "cron" ? { cron: form.cron } : {}),
    no_keep: form.no_keep === "yes",
  };
}

/** All of a form as JSON; what is JSON in it goes to the letter. @param {Form} form @param {boolean} isNew */
function bodyOf(form, isNew) {
  const numbers = ["max_attempts", "priority", "keep_results"];
  const plain = Object.fromEntries(
    ["description", "bundle_key", "hold", ...numbers].map((name) => {
      const value = form[name] ?? "";
      return [
        name,
        value === ""
          ? name === "priority" && !isNew
            ? 0
            : null
          : numbers.includes(name) && Number.isFinite(Number(value))
            ? Number(value)
            : value,
      ];
    }),
  );
  const given = isNew ? Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== null)) : plain;
  const tags = (form.tags ?? "")
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
  const names = isNew ? { station: form.station, ...(form.plan_id ? { plan_id: form.plan_id } : {}) } : {};
  const on_error = form.on_error === "stop_after" ? { stop_after: Number(form.stop_after) } : form.on_error;
  const members = Object.entries({ ...names, ...given, ...ruleOf(form), on_error, tags }).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  const http = form.http ? [`"http":${form.http}`] : isNew ? [] : ['"http":null'];
  return `{${[...members, `"message":${form.message}`, ...http].join()}}`;
}

/** Which field the server's words are about. @param {unknown} error @returns {Record<string, string>} */
function faultOf(error) {
  const [, field, rule] = (error instanceof ApiError ? error.message : "").match(/^([a-z_]+)[^:\s]*: (.*)$/s) ?? [];
  return field && rule ? { [field === "messages" ? "message" : field]: rule } : {};
}

export function NewPlan() {
  return may("produce")
    ? html`<${PlanForm} start=${blank()} />`
    : html`<${NotAllowed} title=${t("plans.add")} />`;
}

/** In place of a form that the token cannot save. @param {{title: string}} props */
const NotAllowed = ({ title }) => html`
  <${Page} title=${title} above=${[{ label: t("plans.title"), href: href(["plans"]) }]}>
    <${Empty} icon="key">${t("plans.not-allowed")}</${Empty}>
  </${Page}>
`;

/** @param {{id: string}} props */
export function EditPlan({ id }) {
  const read = useResource(url`/v1/plans/${id}`, { read: readPlan });
  return html`
    <${Loaded} from=${read}>
      ${(/** @type {any} */ data) =>
        may("produce", data.plan.station)
          ? html`<${PlanForm} start=${filled(data)} edits=${id} />`
          : html`<${NotAllowed} title=${t("plans.edit-title")} />`}
    </${Loaded}>
  `;
}

/** @param {{start: Form, edits?: string}} props */
function PlanForm({ start, edits }) {
  const [form, setForm] = useState(start);
  const [refused, setRefused] = useState(/** @type {Record<string, string>} */ ({}));
  const queues = useResource("/v1/queues?limit=1000", { types: ["queue.changed"] });
  const [stations, zones] = [useId(), useId()];
  const [once, sending] = useOnce();
  const [before] = useState(start);
  useUnsaved(!sending && Object.keys(form).some((name) => form[name] !== before[name]));
  const place = useRef(/** @type {HTMLFormElement | null} */ (null));
  // The first field that is refused is shown, wherever the reader has scrolled to.
  useEffect(() => {
    if (Object.keys(refused).length > 0)
      /** @type {HTMLElement | null | undefined} */ (place.current?.querySelector("[aria-invalid=true]"))?.focus();
  }, [refused]);
  const preview = usePreview(form);
  const wrong = /** @type {Record<string, string>} */ ({ ...preview.wrong, ...refused });
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) => (
    setForm({ ...form, [name]: value, ...(name === "plan_type" ? reset(value, form) : {}) }),
    setRefused({})
  );
  const input = (/** @type {string} */ name, /** @type {Record<string, unknown>} */ more = {}) => html`
    <${Input} label=${t(`plans.${name}`)} value=${form[name]} onInput=${set(name)} wrong=${wrong[name]} ...${more} />
  `;
  const faults = { message: fault(form.message ?? ""), http: form.http ? fault(form.http) : null };

  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const json = bodyOf(form, !edits);
    const save = () => (edits ? api.putJson(url`/v1/plans/${edits}`, json) : api.postJson("/v1/plans", json));
    const refused = (/** @type {unknown} */ error) => {
      const about = faultOf(error);
      setRefused(about);
      if (!Object.keys(about).some((name) => name in form)) complain(error);
    };
    return once(() =>
      act(save, (plan) => t("plans.saved", { id: plan.plan_id }), {
        to: (plan) => [["plans", plan.plan_id]],
        refused,
      }),
    );
  };

  const title = t(edits ? "plans.edit-title" : "plans.add");
  const { plan_type: type = "", timezone: zone = "UTC" } = form;
  return html`
    <${Page}
      title=${title}
      above=${[{ label: t("plans.title"), href: href(["plans"]) }, ...(edits ? [{ label: edits, href: href(["plans", edits]) }] : [])]}
    >
      <form class="plan-columns" ref=${place} onSubmit=${send} aria-label=${title}>
        <div class="stack">
          <${Card} title=${t("plans.plan")}>
            <div class="form">
              ${!edits && input("station", { required: true, list: stations, hint: t("plans.station-hint") })}
              ${!edits && input("plan_id", { label: t("plans.id"), hint: t("plans.id-hint") })}
              ${input("description", { wide: true })}
              <datalist id=${stations}>
                ${(queues.data?.items ?? []).map(
                  (/** @type {any} */ queue) => html`<option key=${queue.name} value=${queue.name}></option>`,
                )}
              </datalist>
            </div>
          </${Card}>
          <${Card} title=${t("plans.rule")}>
            <div class="form">
              <${Select}
                label=${t("plans.type")}
                value=${type}
                onInput=${set("plan_type")}
                options=${TYPES.map((name) => [name, t(`plans.type.${name}`)])}
                wide
              />
              ${
                INTERVALS.includes(type) &&
                input("plan_value", { label: t("plans.every"), type: "number", min: 1, max: 32767, required: true })
              }
              ${
                type === "week" &&
                html`
                  <${Select}
                    label=${t("plans.weekday")}
                    value=${form.plan_value}
                    onInput=${set("plan_value")}
                    options=${[1, 2, 3, 4, 5, 6, 0].map((day) => [String(day), weekday(day)])}
                  />
                `
              }
              ${
                type === "month" &&
                input("plan_value", {
                  label: t("plans.day"), type: "number", min: -31, max: 31, required: true, hint: t("plans.day-hint"),
                })
              }
              ${
                type === "cron" &&
                input("cron", { code: true, required: true, hint: t("plans.cron-hint"), wide: true })
              }
              ${
                type === "time" &&
                input("plan_time", {
                  label: t("plans.at-time"), type: "datetime-local", step: 1, required: true, hint: t("plans.time-hint", { zone: zoneOf(form) }),
                })
              }
              ${
                INTERVALS.includes(type) &&
                input("plan_time", {
                  label: t("plans.base"), type: "datetime-local", step: 1, hint: t("plans.base-hint", { zone: zoneOf(form) }),
                })
              }
              ${
                (type === "week" || type === "month") &&
                input("plan_time", { label: t("plans.at"), type: "time", step: 1 })
              }
              ${
                LOCAL.includes(type) &&
                html`
                  ${input("timezone", { list: zones })}
                  <datalist id=${zones}>
                    ${Intl.supportedValuesOf("timeZone").map(
                      (name) => html`<option key=${name} value=${name}></option>`,
                    )}
                  </datalist>
                `
              }
              ${
                type !== "none" && type !== "time" &&
                input("plan_repet", { label: t("plans.repeat"), type: "number", min: 1, hint: t("plans.repeat-hint") })
              }
              <${Select}
                label=${t("plans.on_error")}
                value=${form.on_error}
                onInput=${set("on_error")}
                options=${["continue", "stop", "stop_after"].map((name) => [name, t(`plans.on_error.${name}`)])}
              />
              ${
                form.on_error === "stop_after" &&
                input("stop_after", { type: "number", min: 1, max: 1000000, required: true, wrong: wrong.on_error })
              }
              ${
                type !== "none" &&
                html`
                  <div class="field wide">
                    <label class="check">
                      <input
                        type="checkbox"
                        checked=${form.no_keep === "yes"}
                        onChange=${(/** @type {any} */ event) => set("no_keep")(event.target.checked ? "yes" : "")}
                      />
                      ${t("plans.no_keep")}
                    </label>
                    <small class="muted">${t("plans.no_keep-hint")}</small>
                  </div>
                `
              }
            </div>
          </${Card}>
          <${Card} title=${t("plans.advanced")}>
            <div class="form">
              ${input("message", {
                rows: 5, code: true, wide: true, wrong: faults.message ?? wrong.message, hint: "JSON",
              })}
              ${input("hold", { hint: t("plans.hold-hint") })}
              ${input("max_attempts", { type: "number", min: -1, hint: t("plans.max_attempts-hint") })}
              ${input("priority", { type: "number", min: -100, max: 100, placeholder: "0" })}
              ${input("tags", { hint: t("plans.tags-hint") })}
              ${input("keep_results", { type: "number", min: 0, max: 10000, placeholder: "100" })}
              ${input("bundle_key", { hint: t("plans.bundle_key-hint") })}
              ${input("http", {
                rows: form.http ? 5 : 2, code: true, wide: true, wrong: faults.http ?? wrong.http, hint: t("plans.http-hint"),
              })}
            </div>
          </${Card}>
          <div class="actions">
            <button class="primary" disabled=${!!faults.message || !!faults.http || sending}>${t("shell.save")}</button>
            <a class="button" href=${href(edits ? ["plans", edits] : ["plans"])}>${t("shell.cancel")}</a>
          </div>
        </div>
        <div class="stack plan-preview">
          <${Card} title=${t("plans.preview")}>
            <p class="plan-rule" dir="auto">${ruleWords({ ...form, ...ruleOf(form) })}</p>
            ${
              preview.times === null
                ? html`<p class="muted">${preview.refused || t("plans.previewing")}</p>`
                : html`
                    <${NextRuns}
                      times=${preview.times.slice(0, 10)}
                      zone=${LOCAL.includes(type) ? zone || "UTC" : ownZone()}
                      empty=${t("plans.no-runs")}
                    />
                    ${
                      preview.times.length > 0 &&
                      html`
                        <${Calendar}
                          zone=${LOCAL.includes(type) ? zone || "UTC" : ownZone()}
                          times=${preview.times}
                          more=${preview.times.length === 1000}
                        />
                      `
                    }
                  `
            }
          </${Card}>
        </div>
      </form>
    </${Page}>
  `;
}

/** What another kind of rule begins with. @param {string} type @param {Form} form */
function reset(type, form) {
  const dated = (/** @type {string} */ name) => name === "time" || INTERVALS.includes(name);
  return {
    plan_value: "1",
    ...(dated(type) === dated(form.plan_type ?? "") ? {} : { plan_time: dated(type) ? "" : "09:00" }),
  };
}

/**
 * When a rule would run, as the server says, a moment after the last key.
 * @param {Form} form
 * @returns {{times: string[] | null, wrong: Record<string, string>, refused: string}}
 */
function usePreview(form) {
  const rule = JSON.stringify({ ...ruleOf(form), n: 1000 });
  const [answer, setAnswer] = useState({
    times: /** @type {string[] | null} */ (null),
    wrong: /** @type {Record<string, string>} */ ({}),
    refused: "",
  });
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api.post("/v1/plans/preview", JSON.parse(rule), abort.signal).then(
        ({ items }) => setAnswer({ times: items, wrong: {}, refused: "" }),
        (error) => {
          const refused = error instanceof ApiError && error.status === 403 ? error.message : "";
          if (!abort.signal.aborted) setAnswer({ times: null, wrong: faultOf(error), refused });
        },
      );
    }, PREVIEW_MS);
    return () => (clearTimeout(timer), abort.abort());
  }, [rule]);
  return answer;
}
