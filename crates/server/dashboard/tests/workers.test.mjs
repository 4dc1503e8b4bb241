// Workers: who is there, what each holds, and the way to let one finish or to remove it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { looks } from "./looks.mjs";
import { openTab, startBrowser, startServer, until } from "./server.mjs";

const HOSTILE = "<img src=x onerror=window.hacked=1>שלום";
let server, browser, heartbeat;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  const { api } = server;
  await api("PUT", "/v1/queues/render", { mode: "dispatch", confirm_within: "10m", hold: "10m" });
  await api("PUT", "/v1/queues/encode", { mode: "dispatch", confirm_within: "10m", hold: "10m" });
  await api("PUT", "/v1/workers/gpu-1", { queues: ["render", "encode"], capabilities: ["gpu", "cuda-12", HOSTILE, "large"], capacity: 4, session: "boot-7" });
  await api("PUT", "/v1/workers/cpu-1", { queues: ["encode"], capacity: 2 });
  await api("PUT", "/v1/workers/idle", { queues: ["render"], capabilities: ["tape"], capacity: 8 });
  await api("POST", "/v1/queues/render/tasks", { tasks: Array.from({ length: 3 }, (_, n) => ({ id: `scene-${n}`, requires: ["gpu"] })) });
  const { assignments } = await until(async () => {
    const told = await api("POST", "/v1/workers/gpu-1/poll", { session: "boot-7" });
    return told.assignments.length === 3 && told;
  }, "assignments");
  // Whoever is silent for half a minute is lost.
  heartbeat = setInterval(() => {
    for (const [name, session] of [["gpu-1", "boot-7"], ["cpu-1"], ["idle"], ["late"]]) api("POST", `/v1/workers/${name}/poll`, { session }).catch(() => {});
  }, 5000);
  const { id, token } = assignments[0];
  await api("POST", `/v1/queues/render/tasks/${id}/confirm`, { token });
  await api("POST", `/v1/queues/render/tasks/${id}/extend`, { token, progress: 0.4 });
});
after(() => (clearInterval(heartbeat), Promise.all([server?.stop(), browser?.close()])));

const row = (tab, name) => tab.getByRole("row").filter({ has: tab.getByRole("link", { name, exact: true }) });

test("the list shows load and heartbeats, live, and drains", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "workers" });
  await row(tab, "gpu-1").getByLabel("3 of 4 places taken").waitFor();
  await row(tab, "gpu-1").getByText("+1").waitFor();
  await tab.locator("[data-connection=live]").waitFor();
  await server.api("PUT", "/v1/workers/late", { queues: ["late"], capacity: 1 });
  await row(tab, "late").waitFor();
  await tab.getByRole("button", { name: "Drain cpu-1" }).click();
  await tab.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
  await row(tab, "cpu-1").locator("[data-state=draining]").waitFor();
  assert.equal((await server.api("GET", "/v1/workers/cpu-1")).state, "draining");
  await tab.getByLabel("State").selectOption("draining");
  await row(tab, "late").waitFor({ state: "detached" });
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
});

test("a worker shows what it holds, and is removed", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "workers/gpu-1", quiet: true });
  const held = tab.getByRole("table", { name: "Current tasks" });
  for (const n of [0, 1, 2]) await held.getByRole("link", { name: `scene-${n}` }).waitFor();
  await held.getByText("40 %").waitFor();
  await tab.goto(`${server.url}/#/workers/late`);
  await tab.getByText("It holds no task.").waitFor();
  await tab.getByRole("button", { name: "Remove" }).click();
  await tab.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await tab.getByRole("heading", { name: "Workers", level: 1 }).waitFor();
  await assert.rejects(server.api("GET", "/v1/workers/late"), /404/);
  assert.deepEqual(faults, []);
  await close();
});

test("what a worker has is found in whichever of its queues it is", async () => {
  const queues = Array.from({ length: 30 }, (_, n) => `far-${String(n).padStart(2, "0")}`);
  await server.api("PUT", "/v1/queues/far-29", { mode: "dispatch", confirm_within: "10m" });
  await server.api("PUT", "/v1/workers/far", { queues, capacity: 150 });
  const tasks = Array.from({ length: 120 }, (_, n) => ({ id: `t-${String(n).padStart(3, "0")}` }));
  await server.api("POST", "/v1/queues/far-29/tasks", { tasks });
  const { tab, faults, close } = await openTab(browser, server, { path: "workers/far" });
  const held = tab.getByRole("table", { name: "Current tasks" });
  await held.getByRole("link", { name: "t-000" }).waitFor();
  await tab.getByText("120 / 150").waitFor();
  await tab.getByRole("button", { name: "Next" }).click();
  await held.getByRole("link", { name: "t-119" }).waitFor();
  assert.equal(await held.locator("tbody tr").count(), 20);
  await server.api("POST", "/v1/queues/far-29/reset");
  await tab.getByText("It holds no task.").waitFor();
  assert.deepEqual(faults, []);
  await close();
  await server.api("DELETE", "/v1/workers/far");
});

test("without the right to change nothing can be changed, and it reads in Chinese", async () => {
  const locked = await startServer({ config: '[[tokens]]\ntoken = "a-token-that-reads"\nrights = ["read", "produce"]\n[[tokens]]\ntoken = "a-token-for-all-rights"\nrights = ["consume"]\n' });
  await locked.apiWith("a-token-for-all-rights")("PUT", "/v1/workers/seen", { queues: ["q"] });
  const { tab, faults, close } = await openTab(browser, locked, { path: "workers", quiet: true, token: "a-token-that-reads", language: "zh" });
  await tab.locator("[data-state=active]").getByText("活动").waitFor();
  assert.equal(await tab.getByRole("main").getByRole("button").count(), 0);
  await tab.getByRole("link", { name: "seen" }).click();
  await tab.getByText("它没有持有任务。").waitFor();
  assert.equal(await tab.getByRole("main").getByRole("button").count(), 0);
  assert.deepEqual(faults, []);
  await close();
  await locked.stop();
});

test("pictures", async () => {
  await looks(browser, server, "workers", "workers", "tbody tr");
  await looks(browser, server, "worker", "workers/gpu-1", "tbody tr");
});
