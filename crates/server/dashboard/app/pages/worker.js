// One worker: what it serves and is capable of, and the tasks it holds.

import { html } from "../lib/html.js";
import { api, ApiError, url } from "../lib/api.js";
import { useResource } from "../lib/resource.js";
import { go, href } from "../lib/router.js";
import { t } from "../lib/text.js";
import { State, Tag } from "../parts/badge.js";
import { confirm } from "../parts/dialog.js";
import { Progress } from "../parts/progress.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Facts, Loaded, Page } from "../parts/view.js";
import { drain, Load, mayTell } from "./workers.js";

/** Tasks are looked up in this many queues, and among this many of each that somebody holds. */
const [QUEUES_SEARCHED, TASKS_SEARCHED] = [20, 1000];

/** What somebody holds of a queue; nothing of one that is not there yet. @param {string} queue @param {AbortSignal} signal @returns {Promise<any[]>} */
async function heldIn(queue, signal) {
  try {
    return (await api.get(url`/v1/queues/${queue}/tasks${{ state: "assigned,running,pausing,cancelling", limit: TASKS_SEARCHED }}`, signal)).items;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

/** @param {{name: string}} props */
export function Worker({ name }) {
  const path = url`/v1/workers/${name}`;
  const loaded = useResource(path, { types: ["worker.*", "task.*"] });
  const worker = loaded.data;
  const queues = worker?.queues.slice(0, QUEUES_SEARCHED) ?? [];
  const held = useResource(worker ? `held ${name} ${queues.join()}` : null, {
    types: ["task.*", "worker.*"], apart: 2000,
    read: async (_, signal) => {
      const pages = await Promise.all(queues.map((/** @type {string} */ queue) => heldIn(queue, signal)));
      return pages.flat().filter((task) => task.worker === name);
    },
  });
  const leave = async () => {
    if (!(await confirm({ title: t("workers.leave-title", { name }), body: t("workers.leave-text"), action: t("workers.leave"), danger: true }))) return;
    if (await act(() => api.delete(path).then(() => true), t("workers.did-leave", { name }))) go(["workers"]);
  };
  const columns = [
    { label: t("shell.task"), bare: true, wide: true, cell: (/** @type {any} */ task) => html`<a class="clip code" href=${href(["queues", task.queue, "tasks", task.id])}>${task.id}</a>` },
    { label: t("shell.queue"), cell: (/** @type {any} */ task) => html`<a class="clip station" href=${href(["queues", task.queue])}>${task.queue}</a>` },
    { label: t("workers.state"), cell: (/** @type {any} */ task) => html`<${State} state=${task.state} />` },
    { label: t("workers.progress"), cell: (/** @type {any} */ task) => task.progress !== null && html`<${Progress} value=${task.progress} label=${t("workers.progress")} />` },
    { label: t("workers.taken"), cell: (/** @type {any} */ task) => html`<${Time} at=${task.taken_at} />` },
    { label: t("workers.hold"), cell: (/** @type {any} */ task) => html`<${Time} at=${task.hold_until} />` },
  ];
  return html`<${Page} title=${name} above=${[{ label: t("workers.title"), href: href(["workers"]) }]} beside=${worker && html`<${State} state=${worker.state} />`}
    actions=${worker && html`
      <${Action} allowed=${worker.state === "active" && mayTell(worker)} icon="pause" onClick=${async () => (await drain(name), loaded.refresh())}>${t("workers.drain")}</${Action}>
      <${Action} allowed=${mayTell(worker)} tone="danger" onClick=${leave}>${t("workers.leave")}</${Action}>`}>
    <${Loaded} from=${loaded}>${() => html`
      <${Card} title=${t("workers.facts")}><${Facts} items=${[
        [t("workers.load"), html`<${Load} worker=${worker} />`],
        [t("workers.heartbeat"), html`<${Time} at=${worker.last_heartbeat} />`],
        [t("workers.joined"), html`<${Time} at=${worker.joined_at} />`],
        [t("workers.session"), worker.session && html`<span class="code" dir="auto">${worker.session}</span>`],
        [t("workers.queues"), html`<span class="tags">${worker.queues.map((/** @type {string} */ queue) => html`<${Tag} key=${queue} href=${href(["queues", queue])}>${queue}</${Tag}>`)}</span>`],
        [t("workers.capabilities"), worker.capabilities.length > 0 ? html`<span class="tags">${worker.capabilities.map((/** @type {string} */ one) => html`<${Tag} key=${one}>${one}</${Tag}>`)}</span>` : null],
      ]} /></${Card}>
      <${Card} title=${t("workers.current")} flush><${Loaded} from=${held}>${(/** @type {any[]} */ tasks) => html`
        <${Table} label=${t("workers.current")} rows=${tasks} rowKey=${(/** @type {any} */ task) => `${task.queue} ${task.id}`} columns=${columns} empty=${html`<${Empty} icon="tasks">${t("workers.idle")}</${Empty}>`} />
        ${worker.queues.length > QUEUES_SEARCHED && html`<p class="muted graph-note">${t("workers.some", { n: worker.queues.length, shown: QUEUES_SEARCHED })}</p>`}`}</${Loaded}></${Card}>`}</${Loaded}>
  </${Page}>`;
}
