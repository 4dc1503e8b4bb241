// One delivery: what is sent, and the request and answer of each attempt.

import { html, useMemo } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { duration } from "../lib/clock.js";
import { member, parse, raw } from "../lib/json.js";
import { useResource } from "../lib/resource.js";
import { href } from "../lib/router.js";
import { t, tries } from "../lib/text.js";
import { State } from "../parts/badge.js";
import { Icon } from "../parts/icon.js";
import { JsonTree } from "../parts/json-tree.js";
import { Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Facts, Loaded, Page } from "../parts/view.js";
import { resends, targetOf } from "./deliveries.js";
import { Exchange } from "./task-timeline.js";

/** Queues that other routes push to. */
const SPECIAL = ["notices", "bundles"];

/** @param {string} path @param {AbortSignal} signal */
async function read(path, signal) {
  const text = await api.text(path, signal);
  return { text, task: JSON.parse(text) };
}

/** @param {{queue: string, id: string}} props */
export function Delivery({ queue, id }) {
  const path = url`/v1/queues/${queue}/tasks/${id}`;
  const loaded = useResource(path, { types: ["task.*", "notice.*"], queue, read });
  const owner = useResource(url`/v1/queues/${queue}`);
  const data = loaded.data;
  const parts = useMemo(() => {
    if (!data) return { payload: "null", http: "null" };
    const root = parse(data.text);
    return { payload: raw(data.text, member(root, "payload")), http: raw(data.text, member(root, "http")) || "null" };
  }, [data?.text]);
  const allowed = may("produce", queue);
  const task = data?.task;

  const resend = async () => {
    await act(() => api.post(`${path}/retry`), t("deliveries.did-resend", { id }));
    loaded.refresh();
  };
  const again = async () => {
    await act(
      () =>
        api.postJson(
          url`/v1/queues/${queue}/tasks`,
          `{"payload":${parts.payload}${parts.http === "null" ? "" : `,"http":${parts.http}`}}`,
        ),
      t("deliveries.copied", { id }),
      { to: (made) => [["deliveries", queue, made.id]] },
    );
  };
  // What is hidden here cannot be sent from here.
  const copies = task?.state === "done" && !SPECIAL.includes(queue) && !parts.http.includes('"***"');

  return html`
    <${Page}
      title=${html`<span class="task-id">${id}</span>`}
      above=${[
        { label: t("deliveries.title"), href: href(["deliveries"], { queue }) },
        { label: queue, href: href(["queues", queue]) },
      ]}
      beside=${task && html`<${State} state=${task.state} />`}
      actions=${
        task &&
        html`
          <${Action} allowed=${allowed && resends(task)} icon="retry" tone="primary" onClick=${resend}>
            ${t("deliveries.resend")}
          </${Action}>
          <${Action} allowed=${allowed && copies} icon="retry" onClick=${again}>${t("deliveries.copy")}</${Action}>
          <a class="button" href=${href(["queues", queue, "tasks", id])}>
            <${Icon} name="tasks" />
            ${t("deliveries.task")}
          </a>
        `
      }
    >
      <${Loaded} from=${loaded}>
        ${() => html`
          <div class="delivery-columns">
            <div class="stack">
              <${Card} title=${t("deliveries.facts")}>
                <${Facts}
                  items=${[
                    [
                      t("deliveries.target"),
                      html`<code dir="auto">${targetOf(task, owner.data?.url)}</code>`,
                    ],
                    [t("deliveries.attempts"), tries(task)],
                    [
                      t("tasks.created"),
                      html`<${Time} at=${task.created_at} />`,
                    ],
                    [
                      t("tasks.next-attempt"),
                      task.state === "waiting"
                        ? html`<${Time} at=${task.due_at} />`
                        : null,
                    ],
                    [
                      t("tasks.finished"),
                      task.finished_at && html`<${Time} at=${task.finished_at} />`,
                    ],
                  ]}
                />
              </${Card}>
              <${Card} title=${t("tasks.payload")}>
                <${JsonTree} text=${parts.payload} label=${t("tasks.payload")} />
                <p class="muted">${t("deliveries.payload-hint")}</p>
              </${Card}>
              ${
                parts.http !== "null" &&
                html`
                  <${Card} title=${t("deliveries.request")}>
                    <${JsonTree} text=${parts.http} label=${t("deliveries.request")} />
                  </${Card}>
                `
              }
            </div>
            <${Card} title=${t("deliveries.attempts")}>
              ${
                task.history.length === 0
                  ? html`<p class="muted">${t("deliveries.no-attempt")}</p>`
                  : html`
                      <ol class="attempts" reversed>
                        ${task.history.toReversed().map(
                          (/** @type {any} */ attempt, /** @type {number} */ index) => html`
                            <li key=${task.history.length - index}>
                              <div class="attempt-head">
                                <${State} state=${attempt.outcome} />
                                ${attempt.status && html`<code>HTTP ${attempt.status}</code>`}
                                <${Time} at=${attempt.at} />
                                ${
                                  attempt.http &&
                                  html`<span class="muted number">${duration(attempt.http.total)}</span>`
                                }
                              </div>
                              ${attempt.error && html`<p class="timeline-error" dir="auto">${attempt.error}</p>`}
                              ${attempt.http && html`<${Exchange} exchange=${attempt.http} open=${index < 3} />`}
                            </li>
                          `,
                        )}
                      </ol>
                    `
              }
            </${Card}>
          </div>
        `}
      </${Loaded}>
    </${Page}>
  `;
}
