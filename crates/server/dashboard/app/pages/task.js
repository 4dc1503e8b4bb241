// One task: where it stands and why, what it carries, every attempt, and what can be done with it.

import { html, useMemo, useState } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { pretty } from "../lib/json.js";
import { useResource } from "../lib/resource.js";
import { href } from "../lib/router.js";
import { has, t, tries } from "../lib/text.js";
import { State, Tag } from "../parts/badge.js";
import { confirm } from "../parts/dialog.js";
import { copy, JsonTree } from "../parts/json-tree.js";
import { Progress } from "../parts/progress.js";
import { Time } from "../parts/time.js";
import { act, say } from "../parts/toast.js";
import { Action, Card, Facts, Loaded, Page } from "../parts/view.js";
import { Assign } from "./task-assign.js";
import { curl, hides, pieces, settingsOf } from "./task-copy.js";
import { TaskForm } from "./task-form.js";
import { Timeline } from "./task-timeline.js";

const EVENTS = ["task.*", "notice.*", "queue.changed"];
const LIVE = ["waiting", "ready", "assigned", "running", "paused", "pausing", "cancelling"];
const HELD = ["assigned", "running", "pausing", "cancelling"];
const UNTAKEN = ["waiting", "ready", "paused"];

/** A task with the text it was read from. @param {string} path @param {AbortSignal} signal */
async function read(path, signal) {
  const text = await api.text(path, signal);
  return { text, task: JSON.parse(text) };
}

/** @param {{queue: string, id: string}} props */
export function Task({ queue, id }) {
  const path = url`/v1/queues/${queue}/tasks/${id}`;
  const read_ = useResource(path, { types: EVENTS, queue, read });
  const missing = read_.error?.status === 404 && !read_.last;
  // A step that waits for others is no task yet, but the server knows why.
  const why = useResource(missing || (read_.data && LIVE.includes(read_.data.task.state)) ? `${path}/why` : null, {
    types: EVENTS,
    queue,
  });
  const [form, setForm] = useState(/** @type {"edit" | "duplicate" | "assign" | null} */ (null));
  const data = read_.data ?? read_.last;
  const gone = data !== undefined && !read_.data;
  const record = useResource(url`/v1/queues/${queue}`, { types: ["queue.changed"], queue });
  const parts = useMemo(() => data && pieces(data.text), [data?.text]);
  const settings = parts ? settingsOf(parts, record.data) : [];
  if (missing && why.data)
    return html`<${Pending} queue=${queue} id=${id} why=${why.data} />`;

  return html`
    <${Page}
      title=${html`<span class="task-id">${id}</span>`}
      above=${[
        { label: t("queues.title"), href: href(["queues"]) },
        { label: queue, href: href(["queues", queue]) },
        { label: t("tasks.title"), href: href(["tasks"], { queue }) },
      ]}
      beside=${data && !gone && html`<${State} state=${data.task.state} />`}
      actions=${
        data &&
        html`
          <${Actions}
            task=${data.task}
            mode=${record.data?.mode}
            gone=${gone}
            payload=${parts?.payload ?? "null"}
            settings=${settings}
            refresh=${() => (read_.refresh(), why.refresh())}
            open=${setForm}
          />
        `
      }
    >
      <${Loaded} from=${{ ...read_, data }}>
        ${(/** @type {any} */ { task }) => html`
          ${
            gone &&
            html`
              <div class="callout info" role="status">
                <h2>${t("tasks.gone")}</h2>
                <p>${t("tasks.gone-text")}</p>
              </div>
            `
          }
          ${
            why.data && !gone &&
            LIVE.includes(task.state) && html`<${Why} why=${why.data} />`
          }
          ${
            task.error &&
            html`
              <div class="callout bad" role="note">
                <h2>${t("tasks.error")}</h2>
                <pre dir="auto">${task.error}</pre>
              </div>
            `
          }
          ${
            task.progress !== null &&
            html`
              <${Card} title=${t("tasks.progress")}>
                <${Progress} value=${task.progress} label=${t("tasks.progress")} />
                ${task.message && html`<pre dir="auto">${task.message}</pre>`}
              </${Card}>
            `
          }
          <div class="task-columns">
            <div class="stack">
              ${["payload", "result", "checkpoint", "http"]
                .filter((name) => parts?.[name] && (name === "payload" || parts[name] !== "null"))
                .map(
                  (name) => html`
                    <${Card} key=${name} title=${t(`tasks.${name}`)}>
                      <${JsonTree} text=${parts?.[name]} label=${t(`tasks.${name}`)} />
                    </${Card}>
                  `,
                )}
            </div>
            <div class="stack">
              <${Card} title=${t("tasks.facts")}><${Facts} items=${facts(task)} /></${Card}>
              <${Card} title=${t("tasks.timeline")}><${Timeline} task=${task} /></${Card}>
            </div>
          </div>
        `}
      </${Loaded}>
      ${
        form === "assign" &&
        data && html`<${Assign} task=${data.task} onClose=${() => (setForm(null), read_.refresh())} />`
      }
      ${
        form === "edit" &&
        data &&
        html`
          <${TaskForm}
            queue=${queue}
            title=${t("tasks.edit-title")}
            edits=${id}
            draft=${{ ...data.task, payload: pretty(parts?.payload ?? "null"), due: data.task.due_at }}
            onClose=${() => (setForm(null), read_.refresh())}
          />
        `
      }
      ${
        form === "duplicate" &&
        data &&
        html`
          <${TaskForm}
            queue=${queue}
            title=${t("tasks.duplicate-title")}
            draft=${{
              payload: pretty(parts?.payload ?? "null"),
              priority: data.task.priority,
              tags: data.task.tags,
              more: settings.filter(([name]) => name !== "priority" && name !== "tags"),
            }}
            onClose=${() => setForm(null)}
          />
        `
      }
    </${Page}>
  `;
}

/** @param {any} task @returns {[string, any][]} */
function facts(task) {
  const time = (/** @type {string | null} */ at) =>
    at && html`<${Time} at=${at} />`;
  return [
    [
      t("shell.queue"),
      html`<a href=${href(["queues", task.queue])}>${task.queue}</a>`,
    ],
    [t("tasks.attempt"), tries(task)],
    [t("tasks.priority"), task.priority],
    [t("tasks.worker"), task.worker],
    [t("tasks.created"), time(task.created_at)],
    [t("tasks.due"), time(task.due_at)],
    [t("tasks.taken"), time(task.taken_at)],
    [t("tasks.hold_until"), time(task.hold_until)],
    [t("tasks.finished"), time(task.finished_at)],
    [
      t("tasks.plan"),
      task.plan && html`<a href=${href(["plans", task.plan.plan_id])}>${task.plan.plan_id}</a>`,
    ],
    [
      t("tasks.flow"),
      task.flow &&
        html`
          <a href=${href(["flows", task.flow.id])}>${task.flow.id}</a>
          ${" · "}${task.flow.step}
        `,
    ],
    [
      t("tasks.tags"),
      task.tags.length
        ? html`
            <span class="tags">
              ${task.tags.map(
                (/** @type {string} */ tag) => html`
                  <${Tag} key=${tag} href=${href(["tasks"], { queue: task.queue, tag })}>${tag}</${Tag}>
                `,
              )}
            </span>
          `
        : null,
    ],
  ];
}

/** Why it is not running now, in the viewer's language as far as there are words. @param {{why: any}} props */
function Why({ why }) {
  const key = `why.${why.reason}`;
  const running = why.reason === "running";
  return html`
    <div class=${`callout ${running ? "active" : "info"}`} role="note" data-reason=${why.reason}>
      <h2>${t(running ? "tasks.running-now" : "tasks.why")}</h2>
      <p dir="auto">
        ${has(key) ? t(key, why) : why.text}${
          why.until &&
          html`
            ${" "}
            <span class="muted">${t("tasks.until")}</span>
            ${" "}
            <${Time} at=${why.until} />
          `
        }
      </p>
      ${
        why.waiting_for?.length > 0 &&
        html`
          <p class="tags">
            ${why.waiting_for.map((/** @type {string} */ step) => html`<${Tag} key=${step}>${step}</${Tag}>`)}
          </p>
        `
      }
    </div>
  `;
}

/** A step of a flow that is not a task yet. @param {{queue: string, id: string, why: any}} props */
function Pending({ queue, id, why }) {
  const [flow = "", ...step] = id.split("~");
  return html`
    <${Page}
      title=${html`<span class="task-id">${id}</span>`}
      above=${[
        { label: t("flows.title"), href: href(["flows"]) },
        { label: flow, href: href(["flows", flow], { step: step.join("~") }) },
      ]}
      beside=${html`<${State} state=${why.state ?? "pending"} />`}
    >
      <${Why} why=${why} />
      <${Card} title=${t("tasks.facts")}>
        <${Facts}
          items=${[
            [
              t("shell.queue"),
              html`<a href=${href(["queues", queue])}>${queue}</a>`,
            ],
            [
              t("tasks.flow"),
              html`
                <a href=${href(["flows", flow], { step: step.join("~") })}>${flow}</a>
                ${" · "}${step.join("~")}
              `,
            ],
          ]}
        />
      </${Card}>
    </${Page}>
  `;
}

/** @param {{task: any, mode: string | undefined, gone: boolean, payload: string, settings: [string, string][], refresh: () => void, open: (form: "edit" | "duplicate" | "assign") => void}} props */
function Actions({ task, mode, gone, payload, settings, refresh, open }) {
  const path = url`/v1/queues/${task.queue}/tasks/${task.id}`;
  const allowed = may("produce", task.queue);
  const { state } = task;
  const verb =
    (/** @type {string} */ name, /** @type {object} */ body = {}) =>
    async () => {
      // A holder is only asked: what follows is another state than the one that was meant.
      const said = (/** @type {any} */ now) => (["pausing", "cancelling"].includes(now?.state) ? now.state : name);
      await act(
        () => api.post(`${path}/${name}`, body),
        (now) => t(`tasks.did.${said(now)}`, { id: task.id }),
      );
      refresh();
    };
  const asked = (/** @type {string} */ name, /** @type {() => Promise<void>} */ run) => async () => {
    if (
      await confirm({
        title: t(`tasks.ask.${name}`),
        body: t(`tasks.ask-text.${name}`),
        action: t(`tasks.verb.${name}`),
        danger: true,
      })
    )
      await run();
  };
  const clean = async () => {
    const to = () => /** @type {import("../parts/toast.js").Destination} */ ([["tasks"], { queue: task.queue }]);
    await act(() => api.delete(path), t("tasks.did.clean", { id: task.id }), { to });
  };
  const copied = async () => {
    await copy(curl(task.queue, payload, settings));
    if (settings.some(([, json]) => hides(json))) say(t("tasks.curl-hidden"));
  };
  const copies = html`
    <${Action} allowed=${allowed} icon="plus" onClick=${() => open("duplicate")}>${t("tasks.duplicate")}</${Action}>
    <${Action} allowed=${true} icon="copy" onClick=${copied}>${t("tasks.curl")}</${Action}>
  `;
  if (gone) return copies;
  const retries = state === "failed" || (state === "waiting" && task.attempt > 0);
  return html`
    <${Action} allowed=${allowed && retries} icon="retry" tone="primary" onClick=${verb("retry")}>
      ${t("tasks.verb.retry")}
    </${Action}>
    <${Action}
      allowed=${allowed && HELD.includes(state)}
      icon="retry"
      onClick=${asked("force", verb("retry", { force: true }))}
    >
      ${t("tasks.verb.force")}
    </${Action}>
    <${Action}
      allowed=${allowed && ["paused", "pausing"].includes(state)}
      icon="play"
      tone="primary"
      onClick=${verb("resume")}
    >
      ${t("tasks.verb.resume")}
    </${Action}>
    <${Action}
      allowed=${allowed && ["waiting", "ready", "assigned", "running"].includes(state)}
      icon="pause"
      onClick=${verb("pause")}
    >
      ${t("tasks.verb.pause")}
    </${Action}>
    <${Action} allowed=${allowed && LIVE.includes(state) && state !== "cancelling"} icon="ban" onClick=${verb("cancel")}>
      ${t("tasks.verb.cancel")}
    </${Action}>
    <${Action}
      allowed=${allowed && mode === "dispatch" && UNTAKEN.includes(state)}
      icon="hand"
      onClick=${() => open("assign")}
    >
      ${t("tasks.assign")}
    </${Action}>
    <${Action} allowed=${allowed && UNTAKEN.includes(state)} icon="edit" onClick=${() => open("edit")}>
      ${t("tasks.edit")}
    </${Action}>
    ${copies}
    <${Action} allowed=${allowed} tone="danger" onClick=${asked("reset", verb("reset"))}>
      ${t("tasks.verb.reset")}
    </${Action}>
    <${Action} allowed=${allowed} tone="danger" icon="trash" onClick=${asked("clean", clean)}>
      ${t("tasks.verb.clean")}
    </${Action}>
  `;
}
