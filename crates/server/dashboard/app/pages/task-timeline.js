// What has happened to a task: pushed, every attempt with its end, and what comes next.

import { html } from "../lib/html.js";
import { duration } from "../lib/clock.js";
import { t } from "../lib/text.js";
import { State } from "../parts/badge.js";
import { Phases } from "../parts/phases.js";
import { Time } from "../parts/time.js";

/** @param {{task: any}} props */
export function Timeline({ task }) {
  const dropped = task.attempt - task.history.length - (task.finished_at || !task.taken_at ? 0 : 1);
  return html`
    <ol class="timeline">
      <li class="quiet">
        <div class="timeline-head">
          <strong>${t("tasks.was-pushed")}</strong>
          <${Time} at=${task.created_at} />
        </div>
      </li>
      ${dropped > 0 && html`<li class="quiet"><span class="muted">${t("tasks.earlier", { n: dropped })}</span></li>`}
      ${task.history.map(
        (/** @type {any} */ attempt, /** @type {number} */ index) => html`
          <${Attempt} key=${index} attempt=${attempt} />
        `,
      )}
      ${
        ["assigned", "running", "pausing", "cancelling"].includes(task.state) &&
        html`
          <li class="active">
            <div class="timeline-head">
              <${State} state=${task.state} />
              <${Time} at=${task.taken_at} />
            </div>
            ${task.worker && html`<p class="muted" dir="auto">${task.worker}</p>`}
            <p class="muted">
              ${t("tasks.hold_until")}${" "}
              <${Time} at=${task.hold_until} />
            </p>
          </li>
        `
      }
      ${
        task.state === "waiting" &&
        html`
          <li class="quiet">
            <div class="timeline-head">
              <strong>${t(task.attempt ? "tasks.next-attempt" : "tasks.is-due")}</strong>
              <${Time} at=${task.due_at} />
            </div>
          </li>
        `
      }
      ${
        task.finished_at &&
        html`
          <li class=${task.state === "done" ? "good" : task.state === "failed" ? "bad" : "quiet"}>
            <div class="timeline-head">
              <strong>${t("tasks.ended")}</strong>
              <${State} state=${task.state} />
              <${Time} at=${task.finished_at} />
            </div>
          </li>
        `
      }
    </ol>
  `;
}

const TONES = /** @type {Record<string, string>} */ ({ done: "good", failed: "bad", lost: "bad", unconfirmed: "warn" });

/** @param {{attempt: any}} props */
function Attempt({ attempt }) {
  const took = (Date.parse(attempt.ended_at) - Date.parse(attempt.at)) / 1000;
  return html`
    <li class=${TONES[attempt.outcome] ?? "quiet"}>
      <div class="timeline-head">
        <${State} state=${attempt.outcome} />
        ${attempt.status && html`<code>HTTP ${attempt.status}</code>`}
        <${Time} at=${attempt.at} />
        <span class="muted number">${duration(took)}</span>
      </div>
      ${attempt.worker && html`<p class="muted" dir="auto">${attempt.worker}</p>`}
      ${attempt.error && html`<p class="timeline-error" dir="auto">${attempt.error}</p>`}
      ${attempt.http && html`<${Exchange} exchange=${attempt.http} />`}
    </li>
  `;
}

/**
 * A request and its answer, with how long each phase took.
 * @param {{exchange: any, open?: boolean}} props
 */
export function Exchange({ exchange, open = false }) {
  const figures = [
    exchange.address,
    t("tasks.sent", { n: exchange.sent_bytes }),
    t("tasks.answered", { n: exchange.answer_bytes }),
    exchange.redirects ? t("tasks.redirects", { n: exchange.redirects }) : "",
  ];
  return html`
    <details class="exchange" open=${open}>
      <summary><code>${exchange.method} ${exchange.url}</code></summary>
      <${Phases} exchange=${exchange} legend />
      <p class="muted">
        ${figures.filter(Boolean).join(" · ")}
      </p>
      ${exchange.answer && html`<pre dir="auto">${exchange.answer}</pre>`}
    </details>
  `;
}
