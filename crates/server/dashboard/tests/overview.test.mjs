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
