// One flow: its steps as a graph and as a list, each with where it stands, and what can be done with the whole.

import { html, useMemo, useState } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { member, parse, raw } from "../lib/json.js";
import { around } from "../lib/layers.js";
import { useResource } from "../lib/resource.js";
import { filter, href, route } from "../lib/router.js";
import { number, t } from "../lib/text.js";
import { State, wordFor } from "../parts/badge.js";
import { confirm } from "../parts/dialog.js";
import { Input, Select } from "../parts/form.js";
import { Graph } from "../parts/graph.js";
import { Icon } from "../parts/icon.js";
import { JsonTree } from "../parts/json-tree.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Facts, Loaded, Page, Stat } from "../parts/view.js";

/** Most steps, and lines between them, that are drawn at once. */
const [STEPS_DRAWN, LINES_DRAWN] = [300, 1500];
const AROUND = 40;
const ROWS_AT_ONCE = 100;

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {string} queue
 * @property {string} task
 * @property {string[]} after
 * @property {string} state
 * @property {string[]} [waiting_for]
 * @property {unknown} result
 * @property {boolean} [result_left_out]
 * @property {string | null} error
 */

/** @param {string} path @param {AbortSignal} signal */
async function read(path, signal) {
  const text = await api.text(path, signal);
  return { text, flow: JSON.parse(text) };
}

/** @param {{id: string}} props */
export function Flow({ id }) {
  const path = url`/v1/flows/${id}`;
  const [many, setMany] = useState(false);
  const loaded = useResource(path, { types: ["flow.*", "task.*"], apart: many ? 5000 : 1000, read });
  const flow = loaded.data?.flow;
  if (flow && many !== flow.counts.total > STEPS_DRAWN) setMany(!many);
  const chosen = route.value.query.get("step") ?? "";
  const allowed = flow?.steps.every((/** @type {Step} */ step) => may("produce", step.queue));
  const link = (/** @type {string} */ step) => href(["flows", id], { ...Object.fromEntries(route.value.query), step });

  const verb = async (/** @type {string} */ name) => {
    if (
      name === "cancel" &&
      !(await confirm({
        title: t("flows.cancel-title"),
        body: t("flows.cancel-text"),
        action: t("flows.cancel"),
        danger: true,
      }))
    )
      return;
    await act(
      () => api.post(`${path}/${name}`),
      (now) =>
      t(now?.state === "cancelling" ? "flows.did.cancelling" : `flows.did.${name}`, { id }),
    );
    loaded.refresh();
  };
  const is = (/** @type {string[]} */ ...states) => states.includes(flow?.state);

  return html`
    <${Page}
      title=${id}
      above=${[{ label: t("flows.title"), href: href(["flows"]) }]}
      beside=${flow && html`<${State} state=${flow.state} />`}
      actions=${
        flow &&
        html`
          <${Action}
            allowed=${allowed && is("failed", "cancelled")}
            icon="retry"
            tone="primary"
            onClick=${() => verb("retry")}
          >
            ${t("flows.retry")}
          </${Action}>
          <${Action} allowed=${allowed && is("paused")} icon="play" tone="primary" onClick=${() => verb("resume")}>
            ${t("flows.resume")}
          </${Action}>
          <${Action} allowed=${allowed && is("running")} icon="pause" onClick=${() => verb("pause")}>
            ${t("flows.pause")}
          </${Action}>
          <${Action} allowed=${allowed && is("running", "paused")} tone="danger" onClick=${() => verb("cancel")}>
            ${t("flows.cancel")}
          </${Action}>
        `
      }
    >
      <${Loaded} from=${loaded}>
        ${() => html`
          <div class="stats">
            ${["total", "pending", "living", "done", "failed", "cancelled"].map(
              (name) => html`
                <${Stat}
                  key=${name}
                  label=${name === "total" ? t("flows.total") : name === "living" ? t("flows.living") : wordFor(name)}
                  value=${number(flow.counts[name])}
                  tone=${name === "failed" && flow.counts.failed ? "bad" : ""}
                />
              `,
            )}
          </div>
          <${Drawing} steps=${flow.steps} chosen=${chosen} link=${link} />
          <${Details}
            step=${flow.steps.find((/** @type {Step} */ step) => step.name === chosen)}
            text=${loaded.data?.text ?? ""}
            steps=${flow.steps}
            link=${link}
          />
          <${StepList} steps=${flow.steps} chosen=${chosen} link=${link} />
          <${Card}>
            <${Facts}
              items=${[
                [t("flows.failure"), t(`flows.${flow.on_failure}`)],
                [
                  t("flows.made"),
                  html`<${Time} at=${flow.created_at} />`,
                ],
                [
                  t("flows.finished"),
                  flow.finished_at && html`<${Time} at=${flow.finished_at} />`,
                ],
              ]}
            />
          </${Card}>
        `}
      </${Loaded}>
    </${Page}>
  `;
}

/** All steps, or of too many those around the chosen one. @param {{steps: Step[], chosen: string, link: (name: string) => string}} props */
function Drawing({ steps, chosen, link }) {
  const lines = steps.reduce((sum, step) => sum + step.after.length, 0);
  const all = steps.length <= STEPS_DRAWN && lines <= LINES_DRAWN;
  const shown = all ? steps : around(steps, chosen, AROUND);
  return html`
    <${Card} title=${t("flows.graph")} flush>
      ${!all && html`<p class="muted graph-note">${t("flows.near", { n: steps.length })}</p>`}
      ${
        shown.length > 0
          ? html`
              <${Graph}
                key=${all ? "" : chosen}
                label=${t("flows.graph")}
                steps=${shown}
                chosen=${chosen}
                link=${link}
              />
            `
          : html`<${Empty} icon="flows">${t("flows.choose")}</${Empty}>`
      }
    </${Card}>
  `;
}

/** @param {{step: Step | undefined, text: string, steps: Step[], link: (name: string) => string}} props */
function Details({ step, text, steps, link }) {
  const index = step ? steps.indexOf(step) : -1;
  const result = useMemo(() => {
    if (step?.result === null || step?.result === undefined) return null;
    const node = member(parse(text), "steps")?.items?.[index];
    return node ? raw(text, member(node, "result")) : null;
  }, [text, index]);
  if (!step) return null;
  const names = (/** @type {string[]} */ all) => html`
    <span class="tags">
      ${all.slice(0, 50).map(
        (name) => html`<a key=${name} class="tag" href=${link(name)} dir="auto">${name}</a>`,
      )}${all.length > 50 && html`<span class="muted">+${all.length - 50}</span>`}
    </span>
  `;
  const then = steps.filter((other) => other.after.includes(step.name)).map((other) => other.name);
  return html`
    <${Card}
      title=${step.name}
      actions=${html`
        <button class="plain" aria-label=${t("flows.close")} onClick=${() => filter({ step: null })}>
          <${Icon} name="close" />
        </button>
      `}
    >
      <${Facts}
        items=${[
          [
            t("flows.state"),
            html`<${State} state=${step.state} />`,
          ],
          [
            t("shell.queue"),
            html`<a href=${href(["queues", step.queue])}>${step.queue}</a>`,
          ],
          [
            t("shell.task"),
            step.state === "pending"
              ? null
              : html`<a class="code" href=${href(["queues", step.queue, "tasks", step.task])}>${step.task}</a>`,
          ],
          [t("flows.after"), step.after.length > 0 ? names(step.after) : null],
          [t("flows.waiting"), step.waiting_for?.length ? names(step.waiting_for) : null],
          [t("flows.before"), then.length > 0 ? names(then) : null],
        ]}
      />
      ${
        step.error !== null &&
        html`
          <div class="callout bad" role="note">
            <h2>${t("flows.error")}</h2>
            <pre dir="auto">${step.error}</pre>
          </div>
        `
      }
      ${step.result_left_out && html`<p class="muted">${t("flows.left-out")}</p>`}
      ${
        result !== null &&
        html`
          <h3>${t("flows.result")}</h3>
          <${JsonTree} text=${result} label=${t("flows.result")} />
        `
      }
    </${Card}>
  `;
}

/** @param {{steps: Step[], chosen: string, link: (name: string) => string}} props */
function StepList({ steps, chosen, link }) {
  const { query } = route.value;
  const [name, state] = [query.get("name") ?? "", query.get("state") ?? ""];
  const [shown, setShown] = useState(ROWS_AT_ONCE);
  const found = steps.filter(
    (step) => (!state || step.state === state) && step.name.toLowerCase().includes(name.toLowerCase()),
  );
  const states = [...new Set(steps.map((step) => step.state))].sort();
  const columns = [
    {
      label: t("flows.step"),
      bare: true,
      cell: (/** @type {Step} */ step) => html`
        <a class="clip" dir="auto" aria-current=${step.name === chosen ? "true" : undefined} href=${link(step.name)}>
          ${step.name}
        </a>
      `,
    },
    {
      label: t("flows.state"),
      cell: (/** @type {Step} */ step) => html`<${State} state=${step.state} />`,
    },
    {
      label: t("shell.queue"),
      cell: (/** @type {Step} */ step) => html`
        <a class="clip station" href=${href(["queues", step.queue])}>${step.queue}</a>
      `,
    },
    {
      label: t("flows.after"),
      wide: true,
      cell: (/** @type {Step} */ step) =>
        step.after.length > 0 && html`<span class="clip muted" dir="auto">${step.after.slice(0, 20).join(", ")}</span>`,
    },
  ];
  return html`
    <${Card} title=${t("flows.steps")} flush>
      ${
        steps.length > 10 &&
        html`
          <div class="filters step-filters">
            <${Input}
              label=${t("flows.search")}
              type="search"
              value=${name}
              onInput=${(/** @type {string} */ value) => filter({ name: value }, { replace: true })}
            />
            <${Select}
              label=${t("flows.state")}
              value=${state}
              onInput=${(/** @type {string} */ value) => filter({ state: value })}
              options=${[["", t("flows.all")], ...states.map((found) => [found, wordFor(found)])]}
            />
          </div>
        `
      }
      <${Table}
        label=${t("flows.steps")}
        rows=${found.slice(0, shown)}
        rowKey=${(/** @type {Step} */ step) => step.name}
        columns=${columns}
      />
      ${
        found.length > shown &&
        html`
          <div class="pager">
            <button onClick=${() => setShown(shown + ROWS_AT_ONCE)}>
              ${t("shell.show-more", { n: found.length - shown })}
            </button>
          </div>
        `
      }
    </${Card}>
  `;
}
