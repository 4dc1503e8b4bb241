// Forms for a task: a new one, a copy of another, or a change to one that nobody has taken. Payloads are sent as
// they are typed, so that no digit of a big number is lost.

import { html, useState } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { fault, pretty } from "../lib/json.js";
import { useOnce, useShown } from "../lib/once.js";
import { t } from "../lib/text.js";
import { Dialog } from "../parts/dialog.js";
import { Input } from "../parts/form.js";
import { Icon } from "../parts/icon.js";
import { act } from "../parts/toast.js";
import { hides } from "./task-copy.js";

/** A time as a field for it shows it, in the viewer's zone. @param {string | null | undefined} at */
export function local(at) {
  if (!at) return "";
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/**
 * @typedef {object} Draft
 * @property {string} [id]
 * @property {string} payload JSON, as it is written
 * @property {number} [priority]
 * @property {string} [due]
 * @property {string[]} [tags]
 * @property {[string, string][]} [more] other settings: names and JSON, as it is written
 */

/**
 * @param {{queue: string, title: string, draft: Draft, edits?: string, onClose: () => void}} props edits: the id of the task that is changed
 */
export function TaskForm({ queue, title, draft, edits, onClose }) {
  const [before] = useState(
    () =>
      /** @type {Record<string, string>} */ ({
        id: draft.id ?? "",
        payload: draft.payload,
        priority: String(draft.priority ?? 0),
        due: local(draft.due),
        tags: (draft.tags ?? []).join(", "),
        ...Object.fromEntries((draft.more ?? []).map(([name, json]) => [`more.${name}`, pretty(json)])),
      }),
  );
  const [form, setForm] = useState(before);
  const more = (draft.more ?? []).map(([name]) => name);
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) => setForm({ ...form, [name]: value });
  const wrong = fault(form.payload ?? "");
  /** What is wrong with another setting: it is no JSON, or something in it is hidden. @param {string} name */
  const amiss = (name) => {
    const json = form[`more.${name}`] ?? "";
    return fault(json) ?? (hides(json) ? t("tasks.hidden-hint") : null);
  };
  const unsaved = Object.keys(form).some((name) => form[name] !== before[name]);
  const [[once, sending], wanted] = [useOnce(), useShown()];
  const send = async () => {
    const tags = (form.tags ?? "")
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean);
    const due = form.due ? new Date(form.due).toISOString() : null;
    const fields = [
      `"payload":${form.payload}`,
      `"priority":${JSON.stringify(Number(form.priority))}`,
      `"tags":${JSON.stringify(tags)}`,
      ...(edits
        ? form.due === local(draft.due)
          ? []
          : [`"due":${JSON.stringify(due)}`]
        : due
          ? [`"due":${JSON.stringify(due)}`]
          : []),
      ...(!edits && form.id ? [`"id":${JSON.stringify(form.id)}`] : []),
      ...more.map((name) => `"${name}":${form[`more.${name}`]}`),
    ];
    const json = `{${fields.join()}}`;
    const sent = edits
      ? await act(() => api.patchJson(url`/v1/queues/${queue}/tasks/${edits}`, json), t("tasks.edited", { id: edits }))
      : await act(
          () => api.postJson(url`/v1/queues/${queue}/tasks`, json),
          (task) => t("tasks.pushed", { id: task.id }),
          { to: (task) => [["queues", queue, "tasks", task.id]], wanted },
        );
    if (sent) onClose();
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose} unsaved=${unsaved && !sending} wide>
      <form onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), once(send))}>
        <${Input}
          label=${t("tasks.payload")}
          value=${form.payload}
          onInput=${set("payload")}
          rows=${10}
          code
          wide
          wrong=${wrong}
          hint="JSON"
        />
        <div class="form">
          ${
            !edits &&
            html`
              <${Input} label=${t("tasks.id")} value=${form.id} onInput=${set("id")} hint=${t("tasks.id-hint")} code />
            `
          }
          <${Input}
            label=${t("tasks.due")}
            type="datetime-local"
            step="1"
            value=${form.due}
            onInput=${set("due")}
            hint=${t("tasks.due-hint")}
          />
          <${Input}
            label=${t("tasks.priority")}
            type="number"
            min="-100"
            max="100"
            value=${form.priority}
            onInput=${set("priority")}
            hint=${t("tasks.priority-hint")}
          />
          <${Input} label=${t("tasks.tags")} value=${form.tags} onInput=${set("tags")} hint=${t("tasks.tags-hint")} />
          ${more.map(
            (name) => html`
              <${Input}
                key=${name}
                label=${name}
                value=${form[`more.${name}`]}
                onInput=${set(`more.${name}`)}
                rows=${Math.min(8, (form[`more.${name}`] ?? "").split("\n").length)}
                wrong=${amiss(name)}
                hint="JSON"
                wide
                code
              />
            `,
          )}
        </div>
        <footer>
          <button type="button" data-close>${t("shell.cancel")}</button>
          <button class="primary" disabled=${!!wrong || sending || more.some(amiss)}>${t(edits ? "shell.save" : "tasks.push")}</button>
        </footer>
      </form>
    </${Dialog}>
  `;
}

/** A button that opens the form for a new task. @param {{queue: string}} props */
export function NewTask({ queue }) {
  const [open, setOpen] = useState(false);
  if (!may("produce", queue)) return null;
  return html`
    <button class="primary" onClick=${() => setOpen(true)}>
      <${Icon} name="plus" />
      ${t("tasks.new")}
    </button>
    ${
      open &&
      html`
        <${TaskForm}
          queue=${queue}
          title=${t("tasks.new-title", { queue })}
          draft=${{ payload: "{\n  \n}" }}
          onClose=${() => setOpen(false)}
        />
      `
    }
  `;
}
