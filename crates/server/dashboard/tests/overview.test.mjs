// The overview: how it is going, live.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTab, startBrowser, startServer } from "./server.mjs";
import { seed } from "./seed.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  await seed(server.api);
});
after(() => Promise.all([server?.stop(), browser?.close()]));

test("figures, next runs and health are those of the API, and follow what happens", async () => {
  const { tab, faults, close } = await openTab(browser, server, {});
  const main = tab.getByRole("main");
  const { items } = await server.api("GET", "/v1/queues?limit=1000");
  const sum = (name) => items.reduce((total, queue) => total + queue.counts[name], 0);
  await main.getByRole("link", { name: /^failed/i }).getByText(String(sum("failed")), { exact: true }).waitFor();
  await main.getByRole("link", { name: /^ready/i }).getByText(String(sum("ready")), { exact: true }).waitFor();
  await main.getByRole("link", { name: "Sweep expired sessions" }).waitFor();
  const plans = await main.getByRole("table", { name: "Next runs of plans" }).locator("tbody tr a:first-child").allInnerTexts();
  assert.equal(plans[0], "Sweep expired sessions");
  const system = await server.api("GET", "/v1/system");
  const health = main.getByRole("region", { name: "Health" });
  await health.getByText(system.store.kind, { exact: true }).waitFor();
  await health.getByText(system.version, { exact: true }).first().waitFor();
  await tab.locator("[data-connection=live]").waitFor();
  await server.api("POST", "/v1/queues/burst/tasks", { tasks: Array.from({ length: 5 }, () => ({})) });
  await main.getByRole("link", { name: /^ready/i }).getByText(String(sum("ready") + 5), { exact: true }).waitFor();
  await main.locator(".chart canvas").waitFor();
  assert.deepEqual(faults, []);
  await close();
});
