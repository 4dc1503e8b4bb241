// One task: everything about it, and everything that can be done with it.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { openTab, startBrowser, startServer, until } from "./server.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  await server.api("PUT", "/v1/queues/work", { keep: { done: "1h", cancelled: "1h" }, max_attempts: 2 });
});
after(() => Promise.all([server?.stop(), browser?.close()]));

const push = (task) => server.api("POST", "/v1/queues/work/tasks", task);
const read = (id) => server.api("GET", `/v1/queues/work/tasks/${id}`);
const take = async () => (await server.api("POST", "/v1/queues/work/take", { worker: "w-1", hold: "10m" })).tasks[0];
const open = (id) => openTab(browser, server, { path: `queues/work/tasks/${id}`, quiet: true });
const button = (tab, name) => tab.getByRole("main").getByRole("button", { name, exact: true });
const inState = (id, state) => until(async () => (await read(id)).state === state, `${id} ${state}`);

test("pause, resume, cancel and reset do what they say", async () => {
  await push({ id: "verbs", payload: { a: 1 }, delay: "1h" });
  const { tab, faults, close } = await open("verbs");
  await tab.getByText("It is not due yet.").waitFor();
  await button(tab, "Pause").click();
  await inState("verbs", "paused");
  await button(tab, "Resume").click();
  await inState("verbs", "waiting");
  await button(tab, "Cancel").click();
  await inState("verbs", "cancelled");
  await tab.locator("h1 ~ [data-state=cancelled]").waitFor();
  await button(tab, "Reset").click();
  await tab.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
  await until(async () => ["ready", "waiting"].includes((await read("verbs")).state), "like new");
  await button(tab, "Clean").click();
  await tab.getByRole("dialog").getByRole("button", { name: "Clean" }).click();
  await tab.getByRole("heading", { name: "Tasks" }).waitFor();
  await assert.rejects(read("verbs"), /404/);
  assert.deepEqual(faults, []);
  await close();
});

test("a failed task shows every attempt and is tried again", async () => {
  await push({ id: "fails", payload: {}, retry: { intervals: ["1h"] } });
  const first = await take();
  await server.api("POST", "/v1/queues/work/tasks/fails/fail", { token: first.token, error: "first error" });
  const { tab, faults, close } = await open("fails");
  await tab.getByText("The last attempt failed; it waits for the next.").waitFor();
  await tab.getByText("Next attempt").waitFor();
  await button(tab, "Retry").click();
  await inState("fails", "ready");
  const second = await take();
  await tab.getByText("A worker has it.").waitFor();
  await server.api("POST", "/v1/queues/work/tasks/fails/extend", { token: second.token, progress: 0.42, message: "nearly <b>half</b>" });
  await tab.getByText("42 %").waitFor();
  await tab.getByText("nearly <b>half</b>").waitFor();
  await server.api("POST", "/v1/queues/work/tasks/fails/fail", { token: second.token, error: "second error" });
  await tab.locator("h1 ~ [data-state=failed]").waitFor();
  const timeline = tab.getByRole("region", { name: "Timeline" });
  await timeline.getByText("first error").waitFor();
  await timeline.getByText("second error").waitFor();
  await button(tab, "Retry").click();
  await inState("fails", "ready");
  await server.api("DELETE", "/v1/queues/work/tasks/fails");
  assert.deepEqual(faults, []);
  await close();
});

test("a running task is taken away from its holder, or asked to stop", async () => {
  await push({ id: "held", payload: {} });
  await take();
  const { tab, faults, close } = await open("held");
  await button(tab, "Force retry").click();
  await tab.getByRole("dialog").getByRole("button", { name: "Force retry" }).click();
  await inState("held", "ready");
  const again = await take();
  await tab.locator("h1 ~ [data-state=running]").waitFor();
  await button(tab, "Pause").click();
  await inState("held", "pausing");
  await button(tab, "Cancel").click();
  await inState("held", "cancelling");
  await tab.getByText("Its holder has been asked to stop.").waitFor();
  await server.api("POST", "/v1/queues/work/tasks/held/cancelled", { token: again.token });
  await tab.locator("h1 ~ [data-state=cancelled]").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("edit, duplicate and curl keep every digit", async () => {
  const payload = '{"big":12345678901234567890,"small":0.10,"2":true,"1":"it\'s"}';
  await fetch(`${server.address}/v1/queues/work/tasks`, { method: "POST", body: `{"id":"exact","delay":"1h","tags":["x"],"payload":${payload}}` });
  const { tab, faults, close } = await open("exact");
  await tab.getByText("12345678901234567890").waitFor();
  await button(tab, "Edit").click();
  const form = tab.getByRole("dialog");
  await form.getByLabel("Payload").fill((await form.getByLabel("Payload").inputValue()).replace("true", "false"));
  await form.getByLabel("Priority").fill("9");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  const text = await (await fetch(`${server.address}/v1/queues/work/tasks/exact`)).text();
  assert.ok(/12345678901234567890/.test(text) && /0\.10/.test(text) && /false/.test(text), text);
  assert.equal(JSON.parse(text).priority, 9);
  assert.equal(JSON.parse(text).state, "waiting");

  await button(tab, "Copy as curl").click();
  const command = await tab.evaluate(() => navigator.clipboard.readText());
  assert.ok(command.startsWith("curl -X POST '") && command.includes("12345678901234567890") && command.includes("it'\\''s"), command);

  await button(tab, "Duplicate").click();
  await form.getByLabel("Id").fill("copy");
  await form.getByRole("button", { name: "Push" }).click();
  await tab.getByRole("heading", { name: "copy", level: 1, exact: true }).waitFor();
  const copy = await (await fetch(`${server.address}/v1/queues/work/tasks/copy`)).text();
  assert.ok(/12345678901234567890/.test(copy) && /0\.10/.test(copy), copy);
  assert.deepEqual(JSON.parse(copy).tags, ["x"]);
  await server.api("DELETE", "/v1/queues/work/tasks/copy");
  assert.deepEqual(faults, []);
  await close();
});

test("a delivery shows its request, its answer and how long each phase took", async () => {
  const target = createServer((_, response) => response.writeHead(500).end("no <i>luck</i>"));
  await new Promise((resolve) => target.listen(0, "127.0.0.1", resolve));
  await server.api("PUT", "/v1/queues/hooks", { mode: "http", url: `http://127.0.0.1:${target.address().port}/hook`, max_attempts: 1 });
  await server.api("POST", "/v1/queues/hooks/tasks", { id: "hook", payload: { a: 1 } });
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/hooks/tasks/hook", quiet: true });
  await tab.getByText("HTTP 500").waitFor();
  await tab.locator(".exchange summary").click();
  await tab.getByText("no <i>luck</i>").first().waitFor();
  await tab.locator(".phase-legend").getByText("first byte").waitFor();
  assert.deepEqual(faults, []);
  await close();
  target.close();
});

test("a task of a dispatch queue is assigned to a worker", async () => {
  await server.api("PUT", "/v1/queues/given", { mode: "dispatch" });
  await server.api("POST", "/v1/queues/given/pause");
  await server.api("POST", "/v1/queues/given/tasks", { id: "g" });
  await server.api("PUT", "/v1/workers/hand", { queues: ["given"], capacity: 2 });
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/given/tasks/g" });
  await tab.getByText("The queue is paused.").waitFor();
  await button(tab, "Assign").click();
  await tab.getByRole("dialog").getByLabel("Worker").selectOption("hand");
  await tab.getByRole("dialog").getByRole("button", { name: "Assign" }).click();
  await tab.locator("h1 ~ [data-state=assigned]").waitFor();
  assert.equal((await server.api("GET", "/v1/queues/given/tasks/g")).worker, "hand");
  assert.deepEqual(faults, []);
  await close();
});

test("a task that is not there says so", async () => {
  const { tab, close } = await open("missing");
  await tab.getByRole("alert").getByText("missing").waitFor();
  await close();
});
