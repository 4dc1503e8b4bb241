// Carries out the story's commands with the TypeScript SDK: one JSON object per line in, one answer per line out.

import { createInterface } from "node:readline";

import { ApiError, Client, Fail, NoAnswer, Punctual, Unreachable, WebhookError, verify } from "../../../typescript/dist/esm/index.js";

const client = new Client();
const impatient = new Client({ retryFor: 0 });
const apps = new Map();
const stops = [];
const heard = [];
const later = [];
const listening = new AbortController();
let openGate;
const gate = new Promise((resolve) => (openGate = resolve));

const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const stopped = (signal) => new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", resolve)));

/** Does as the task's payload says. */
const handler = (name) => async (task) => {
  const order = task.payload;
  switch (order.do) {
    case "return":
      return order.value;
    case "name":
      return name;
    case "inputs":
      return order.inputs;
    case "fail":
      throw new Fail(order.error, { permanent: order.permanent });
    case "throw":
      throw new TypeError("thrown");
    case "vote":
      if (!(name in order.votes)) throw new Fail("no opinion");
      return order.votes[name];
    case "sleep":
      await sleep(order.seconds);
      return "slept";
    case "gate":
      await gate;
      return "gate";
    case "fail_twice":
      if (task.attempt < 3) {
        task.saveCheckpoint(task.attempt);
        throw new Error("not yet");
      }
      return `checkpoint ${task.checkpoint}`;
  }
  if (task.checkpoint !== null) return `checkpoint ${task.checkpoint}`;
  task.progress(0.25, "waiting");
  await stopped(task.signal);
  stops.push(`${task.id} ${task.stopReason}`);
  task.saveCheckpoint("so far");
  task.check();
};

function startWorker({ name, queues, concurrency, capabilities = [] }) {
  const app = new Punctual({ name, capabilities, grace: 0.3 });
  for (const queue of queues) app.task(queue, handler(name), { concurrency });
  app.start();
  apps.set(name, app);
}

async function stopWorker({ name }) {
  apps.get(name).stop();
  await apps.get(name).join();
}

async function pushTogether({ queue, ids }) {
  const answers = await Promise.allSettled(ids.map((id) => client.push(queue, 1, { id })));
  return answers.map((it) => (it.status === "fulfilled" ? it.value.id : it.reason.code));
}

async function pushNumbers({ queue, prefix, count }) {
  const task = (_, n) => ({ id: `${prefix}${n}`, payload: { do: "return", value: n } });
  return (await client.pushMany(queue, Array.from({ length: count }, task))).length;
}

async function listen({ queue, type }) {
  for await (const event of client.events({ queue, type, signal: listening.signal })) {
    for (const id of event.data.ids ?? [event.data.id]) heard.push(`${event.type} ${id}`);
  }
}

const commands = {
  put_queue: (it) => client.putQueue(it.queue, it.settings),
  get_queue: (it) => client.getQueue(it.queue),
  pause_queue: (it) => client.pauseQueue(it.queue),
  resume_queue: (it) => client.resumeQueue(it.queue),
  push: (it) => client.push(it.queue, it.payload, it.options),
  push_impatient: (it) => impatient.push(it.queue, it.payload),
  push_later: (it) => void later.push(client.push(it.queue, it.payload, it.options)),
  pushed_later: () => later.pop(),
  push_many: (it) => client.pushMany(it.queue, it.tasks),
  push_together: pushTogether,
  push_numbers: pushNumbers,
  get_task: (it) => client.getTask(it.queue, it.id),
  delete_task: (it) => client.deleteTask(it.queue, it.id),
  wait_for: (it) => client.waitFor(it.queue, it.id, 25),
  take: async (it) => (await client.take(it.queue, it.options)).tasks,
  extend: (it) => client.extend(it.queue, it.id, { token: it.token, ...it.options }),
  commit: (it) => client.commit(it.queue, it.id, { token: it.token, result: it.result }),
  fail: (it) => client.fail(it.queue, it.id, { token: it.token, ...it.options }),
  retry_task: (it) => client.retryTask(it.queue, it.id, { force: it.force ?? false }),
  cancel_task: (it) => client.cancelTask(it.queue, it.id),
  pause_task: (it) => client.pauseTask(it.queue, it.id),
  resume_task: (it) => client.resumeTask(it.queue, it.id),
  events_start: (it) => void listen(it),
  events_heard: () => heard,
  worker_start: startWorker,
  worker_stop: stopWorker,
  stops: () => stops,
  open_gate: () => openGate(),
  list_workers: async () => (await client.listWorkers()).items.map((worker) => worker.name),
  create_flow: (it) => client.createFlow(it.flow),
  get_flow: (it) => client.getFlow(it.id),
  create_plan: (it) => client.createPlan(it.plan),
  preview_plan: async (it) => (await client.previewPlan(it.rule)).items,
  get_plan: (it) => client.getPlan(it.id),
  plan_results: async (it) => (await client.planResults(it.id)).items,
  push_bundle: (it) => client.pushBundle(it.queue, it.key, it.bundle),
  schedule_bundle: (it) => client.scheduleBundle(it.queue, { wait: "5s" }),
  get_bundle: (it) => client.getBundle(it.queue, it.key, { random: it.random }),
  complete_bundle: (it) => client.completeBundle(it.queue, it.key, { random: it.random, number: it.number }),
  push_notice: (it) => client.pushNotice(it.notice),
  get_notice: (it) => client.getNotice(it.id),
  verify: (it) => verify(it.body, it.headers, it.secret, { now: Number(it.now) }),
};

function told(error) {
  if (error instanceof ApiError) return { kind: "api", status: error.status, code: error.code, detail: error.detail };
  if (error instanceof Unreachable) return { kind: "unreachable", detail: error.message };
  if (error instanceof NoAnswer) return { kind: "no_answer", detail: error.message };
  if (error instanceof WebhookError) return { kind: "webhook", detail: error.message };
  return { kind: "other", detail: String(error) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...rest } = JSON.parse(line);
  try {
    process.stdout.write(`${JSON.stringify({ ok: (await commands[name](rest)) ?? null })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: told(error) })}\n`);
  }
}
listening.abort();
