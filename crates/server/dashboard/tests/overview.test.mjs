// The overview: how it is going, live.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTab, startBrowser, startServer, until } from "./server.mjs";
import { seed } from "./seed.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  await seed(server.api);
});
after(() => Promise.all([server?.stop(), browser?.close()]));

test("figures are of all queues, however many there are", async () => {
  const many = await startServer({ args: ["--log", "warn"] });
  for (let from = 0; from < 1_010; from += 101) {
    const some = Array.from({ length: 101 }, (_, n) => `q-${String(from + n).padStart(4, "0")}`);
    await Promise.all(some.map((queue) => many.api("POST", `/v1/queues/${queue}/tasks`, {})));
  }
  await many.api("POST", "/v1/queues/zulu/tasks", { tasks: Array.from({ length: 7 }, () => ({})) });
  const { tab, faults, close } = await openTab(browser, many, {});
  const main = tab.getByRole("main");
  const ready = (await many.api("GET", "/v1/stats/totals")).counts.ready;
  assert.equal(ready, 1_017);
  await main.getByRole("link", { name: /^ready/i }).getByText("1,017", { exact: true }).waitFor();
  const busiest = main.getByRole("table", { name: "Busiest queues" });
  await busiest.getByRole("link", { name: "zulu" }).waitFor();
  assert.equal(await busiest.locator("tbody tr").count(), 5);
  assert.deepEqual(faults, []);
  await close();
  await many.stop();
});

test("figures, next runs and health are those of the API, and follow what happens", async () => {
  const { tab, faults, close } = await openTab(browser, server, {});
  const main = tab.getByRole("main");
  const { items } = await server.api("GET", "/v1/queues?limit=1000");
  const sum = (name) => items.reduce((total, queue) => total + queue.counts[name], 0);
  await main.getByRole("link", { name: /^failed/i }).getByText(String(sum("failed")), { exact: true }).waitFor();
  await main.getByRole("link", { name: "Sweep expired sessions" }).waitFor();
  const shown = main.getByRole("table", { name: "Next runs of plans" }).locator("tbody tr a:first-child");
  await until(async () => {
    const { items: plans } = await server.api("GET", "/v1/plans");
    const [first] = await shown.allInnerTexts();
    const soonest = plans.map((plan) => plan.next_at).sort()[0];
    return plans.find((plan) => plan.description === first)?.next_at === soonest;
  }, "the plan that runs next on top");
  const system = await server.api("GET", "/v1/system");
  const health = main.getByRole("region", { name: "Health" });
  await health.getByText(system.store.kind, { exact: true }).waitFor();
  await health.getByText(system.version, { exact: true }).first().waitFor();
  await tab.locator("[data-connection=live]").waitFor();
  await server.api("POST", "/v1/queues/burst/tasks", { tasks: Array.from({ length: 5 }, () => ({})) });
  // What was to be tried again may be ready meanwhile, too.
  const figure = main.getByRole("link", { name: /^ready/i }).locator(".stat-value");
  await until(async () => {
    const { counts } = await server.api("GET", "/v1/stats/totals");
    return counts.ready >= sum("ready") + 5 && (await figure.innerText()) === String(counts.ready);
  }, "as many ready tasks as there are");
  await main.locator(".chart canvas").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("a server that nobody has used says how to begin", async () => {
  const fresh = await startServer();
  const { tab, faults, close } = await openTab(browser, fresh, {});
  const card = tab.getByRole("region", { name: "Push a first task" });
  await card.getByRole("button", { name: "Copy" }).click();
  const command = await tab.evaluate(() => navigator.clipboard.readText());
  assert.match(command, /^curl http:\/\/127\.0\.0\.1:\d+\/v1\/queues\/hello\/tasks -d '\{"payload": "hello"\}'$/);
  assert.equal(await card.getByRole("link", { name: "API reference" }).getAttribute("href"), "/docs");
  await tab.locator("[data-connection=live]").waitFor();
  await fresh.api("POST", "/v1/queues/hello/tasks", JSON.parse(command.match(/'(.*)'/)[1]));
  await card.waitFor({ state: "detached" });
  assert.equal(await tab.locator("[data-alert]").count(), 0);
  assert.deepEqual(faults, []);
  await close();
  await fresh.stop();
});

test("what stands still is on top, and leads there", async () => {
  const stuck = await startServer();
  const { api } = stuck;
  await api("PUT", "/v1/queues/held-back", {});
  await api("POST", "/v1/queues/held-back/pause");
  await api("POST", "/v1/plans", { plan_id: "broken", station: "backups", plan_type: "none", max_attempts: 1 });
  const { tasks: [task] } = await api("POST", "/v1/queues/backups/take", { wait: "10s" });
  await api("POST", `/v1/queues/backups/tasks/${task.id}/fail`, { token: task.token, error: "no tape" });
  await api("PUT", "/v1/queues/down", { mode: "http", url: "http://127.0.0.1:1/", max_attempts: 1 });
  await api("POST", "/v1/queues/down/tasks", { tasks: Array.from({ length: 20 }, () => ({})) });
  const { tab, faults, close } = await openTab(browser, stuck, {});
  const alert = (kind) => tab.locator(`[data-alert=${kind}]`);
  await alert("paused").getByText("1 queue is paused").waitFor();
  await alert("plans").getByText("1 plan has stopped with an error").waitFor();
  await alert("hosts").getByText("127.0.0.1:1").waitFor();
  await alert("plans").click();
  await tab.getByRole("link", { name: "broken", exact: true }).waitFor();
  await tab.goBack();
  await alert("paused").click();
  await tab.getByRole("heading", { name: "held-back", level: 1 }).waitFor();
  assert.deepEqual(faults, []);
  await close();
  await stuck.stop();
});
