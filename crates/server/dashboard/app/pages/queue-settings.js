// The settings of a queue, as a form. Only what was changed is sent; an emptied field goes back to its default.

import { html, useState } from "../lib/html.js";
import { api, url } from "../lib/api.js";
import { useOnce } from "../lib/once.js";
import { t } from "../lib/text.js";
import { Dialog } from "../parts/dialog.js";
import { Input, Select } from "../parts/form.js";
import { act } from "../parts/toast.js";
import { MODES } from "./queues.js";

/** Seconds as they can be typed, to the millisecond. @param {number | null | undefined} seconds */
export function spell(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (!Number.isInteger(seconds) || seconds === 0) return `${seconds}s`;
  const units = /** @type {[number, string][]} */ ([
    [86_400, "d"],
    [3600, "h"],
    [60, "m"],
    [1, "s"],
  ]);
  let [text, left] = ["", seconds];
  for (const [size, unit] of units) {
    if (left >= size) ((text += `${Math.floor(left / size)}${unit}`), (left %= size));
  }
  return text;
}

/** What the form shows of a queue. @param {any} queue @returns {Record<string, string>} */
function shown(queue) {
  const text = (/** @type {unknown} */ value) => (value === null || value === undefined ? "" : String(value));
  const { retry, keep, rate } = queue;
  return {
    mode: queue.mode,
    tag: text(queue.tag),
    max: text(queue.max),
    hold: spell(queue.hold),
    confirm_within: spell(queue.confirm_within),
    max_runtime: queue.max_runtime === null ? "" : spell(queue.max_runtime),
    max_attempts: text(queue.max_attempts),
    order: queue.order,
    concurrency: text(queue.concurrency),
    "retry.intervals": (retry.intervals ?? []).map(spell).join(", "),
    "retry.first": spell(retry.first),
    "retry.factor": text(retry.factor),
    "retry.max": spell(retry.max),
    "retry.jitter": text(retry.jitter),
    "rate.limit": text(rate?.limit),
    "rate.per": spell(rate?.per),
    "keep.done": spell(keep.done),
    "keep.failed": spell(keep.failed),
    "keep.cancelled": spell(keep.cancelled),
    url: text(queue.url),
    timeout: spell(queue.timeout),
    secret: "",
    headers: Object.entries(queue.headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n"),
    abandon_after: spell(queue.abandon_after),
    abandoned: queue.abandoned,
  };
}

/** What was changed, as the API takes it. @param {Record<string, string>} before @param {Record<string, string>} form */
export function patch(before, form) {
  /** @type {Record<string, any>} */
  const changes = {};
  const changed = (/** @type {string} */ group) =>
    Object.keys(form).some((name) => name.startsWith(group) && form[name] !== before[name]);
  const number = (/** @type {string} */ value) =>
    value.trim() === "" ? null : Number.isNaN(Number(value)) ? value : Number(value);
  const text = (/** @type {string | undefined} */ value) => (value ?? "").trim() || null;
  for (const name of [
    "mode",
    "tag",
    "hold",
    "confirm_within",
    "max_runtime",
    "order",
    "url",
    "timeout",
    "abandon_after",
    "abandoned",
  ]) {
    if (form[name] !== before[name]) changes[name] = text(form[name]);
  }
  for (const name of ["max", "max_attempts", "concurrency"]) {
    if (form[name] !== before[name]) changes[name] = number(form[name] ?? "");
  }
  /** The members of a group that are not empty. @param {string} group @param {string[]} numbers */
  const gather = (group, numbers) => {
    const members = Object.keys(form).filter(
      (name) => name.startsWith(`${group}.`) && name !== "retry.intervals" && text(form[name]),
    );
    return Object.fromEntries(
      members.map((name) => {
        const short = name.slice(group.length + 1);
        return [short, numbers.includes(short) ? number(form[name] ?? "") : text(form[name])];
      }),
    );
  };
  if (changed("retry.")) {
    const intervals = text(form["retry.intervals"]);
    changes.retry = intervals
      ? { intervals: intervals.split(/[\s,]+/).filter(Boolean) }
      : gather("retry", ["factor", "jitter"]);
    if (Object.keys(changes.retry).length === 0) changes.retry = null;
  }
  if (changed("rate.")) changes.rate = text(form["rate.limit"]) ? gather("rate", ["limit"]) : null;
  if (changed("keep.")) {
    const names = ["done", "failed", "cancelled"].filter((name) => form[`keep.${name}`] !== before[`keep.${name}`]);
    changes.keep = Object.fromEntries(names.map((name) => [name, text(form[`keep.${name}`])]));
  }
  if (form.secret) changes.secret = form.secret;
  if (form.headers !== before.headers) {
    const lines = (form.headers ?? "").split("\n").filter((line) => line.trim());
    changes.headers = Object.fromEntries(
      lines.map((line) => {
        const [name = "", value = ""] = line.split(/:(.*)/s);
        return [name.trim(), value.trim()];
      }),
    );
  }
  return changes;
}

/** @param {{queue: any, onClose: () => void}} props */
export function Settings({ queue, onClose }) {
  const [before] = useState(() => shown(queue));
  const [form, setForm] = useState(before);
  const changes = patch(before, form);
  const input = (/** @type {string} */ name, /** @type {Record<string, any>} */ more = {}) => html`
    <${Input}
      label=${t(`queues.${name}`)}
      value=${form[name]}
      onInput=${(/** @type {string} */ value) => setForm({ ...form, [name]: value })}
      ...${more}
    />
  `;
  const select = (/** @type {string} */ name, /** @type {string[]} */ options) => html`
    <${Select}
      label=${t(`queues.${name}`)}
      value=${form[name]}
      options=${options.map((option) => [option, t(`queues.${name}.${option}`)])}
      onInput=${(/** @type {string} */ value) => setForm({ ...form, [name]: value })}
    />
  `;
  const [once, sending] = useOnce();
  const save = async () => {
    const put = () => api.put(url`/v1/queues/${queue.name}`, changes);
    if (await act(put, t("queues.saved", { name: queue.name }))) onClose();
  };
  return html`
    <${Dialog} title=${`${t("queues.settings")}: ${queue.name}`} onClose=${onClose} unsaved=${Object.keys(changes).length > 0 && !sending} wide>
      <form onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), once(save))}>
        <p class="muted">${t("queues.settings-hint")}</p>
        <div class="form">${select("mode", MODES)}${input("tag")}${select("order", ["fifo", "random"])}</div>
        <fieldset>
          <legend>${t("queues.limits")}</legend>
          <div class="form">
            ${input("max", { type: "number", min: 1 })}
            ${input("concurrency", { type: "number", min: 1 })}
            ${input("rate.limit", { type: "number", min: 1 })}
            ${input("rate.per", { hint: t("queues.duration-hint") })}
          </div>
        </fieldset>
        <fieldset>
          <legend>${t("queues.attempts")}</legend>
          <div class="form">
            ${input("max_attempts", { type: "number", min: -1, hint: t("queues.max_attempts-hint") })}
            ${input("hold", { hint: t("queues.duration-hint") })}
            ${input("confirm_within")}
            ${input("max_runtime", { hint: t("queues.max_runtime-hint") })}
            ${input("retry.intervals", { hint: t("queues.intervals-hint") })}
            ${input("retry.first")}
            ${input("retry.factor")}
            ${input("retry.max")}
            ${input("retry.jitter")}
          </div>
        </fieldset>
        <fieldset>
          <legend>${t("queues.keep")}</legend>
          <div class="form">${input("keep.done")}${input("keep.failed")}${input("keep.cancelled")}</div>
        </fieldset>
        ${
          form.mode === "http" &&
          html`
            <fieldset>
              <legend>${t("queues.target")}</legend>
              <div class="form">
                ${input("url", { wide: true, code: true, type: "url" })}
                ${input("headers", { wide: true, rows: 3, code: true, hint: t("queues.headers-hint") })}
                ${input("secret", { type: "password", hint: t(queue.secret ? "queues.secret-kept" : "queues.secret-hint") })}
                ${input("timeout")}
              </div>
            </fieldset>
          `
        }
        <fieldset>
          <legend>${t("queues.bundles")}</legend>
          <div class="form">
            ${input("abandon_after", { hint: t("queues.abandon_after-hint") })}${select("abandoned", ["fail", "drop"])}
          </div>
        </fieldset>
        <footer>
          <button type="button" data-close>${t("shell.cancel")}</button>
          <button class="primary" disabled=${Object.keys(changes).length === 0}>${t("shell.save")}</button>
        </footer>
      </form>
    </${Dialog}>
  `;
}
