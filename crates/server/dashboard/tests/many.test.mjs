// A queue with 100,000 tasks, and tasks coming and going: the page stays small, asks little, and answers.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTab, startBrowser, startServer, until } from "./server.mjs";

const ALL = 100_000;
let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  await server.api("PUT", "/v1/queues/many", { retry: { intervals: ["1h"] } });
  for (let at = 0; at < ALL; at += 10_000) {
    await server.api("POST", "/v1/queues/many/tasks", { tasks: Array.from({ length: 10_000 }, (_, n) => ({ id: `t-${at + n}`, payload: { n: at + n }, ...(n % 10 ? {} : { tags: ["tenth"] }) })) });
  }
});
after(() => Promise.all([server?.stop(), browser?.close()]));

test("a flood of events costs a page at most a reading a second, and it still answers", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "tasks?queue=many" });
  await tab.locator("tbody tr").first().waitFor();
  await tab.locator("[data-connection=live]").waitFor();
  await tab.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (window.longest = Math.max(window.longest, entry.duration)))).observe({ type: "longtask" });
  });
  const asked = [];
  tab.on("request", (request) => asked.push(new URL(request.url()).pathname));
  const start = Date.now();
  for (let round = 0; round < 40; round += 1) {
    await server.api("POST", "/v1/queues/many/tasks", { tasks: Array.from({ length: 250 }, (_, n) => ({ id: `more-${round}-${n}` })) });
    const { tasks } = await server.api("POST", "/v1/queues/many/take", { n: 250 });
    await server.api("POST", "/v1/queues/many/commit", { tasks: tasks.map(({ id, token }) => ({ id, token })) });
  }
  const seconds = (Date.now() - start) / 1000;
  const readings = asked.filter((path) => path.endsWith("/tasks")).length;
  assert.ok(readings <= seconds + 2, `${readings} readings in ${seconds} s`);
  assert.ok((await tab.locator("main *").count()) < 3000);
  await tab.getByRole("button", { name: "Next" }).click();
  await tab.waitForURL(/cursor=/);
  await until(async () => (await tab.locator("tbody tr").count()) === 50, "the next page");
  console.log(`longest task of the page: ${Math.round(await tab.evaluate(() => window.longest))} ms; ${readings} readings in ${seconds.toFixed(1)} s`);
  assert.deepEqual(faults, []);
  await close();
});

test("a verb for all 10,000 that match shows how far it is", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "tasks?queue=many&tag=tenth&state=ready" });
  await tab.locator("tbody tr").first().waitFor();
  await tab.getByRole("button", { name: "Cancel…" }).click();
  const dialog = tab.getByRole("dialog");
  const count = await until(async () => (await dialog.getByRole("button", { name: "Cancel" }).last().isEnabled()) && Number(await dialog.locator("[data-count]").getAttribute("data-count")), "the count");
  const { items } = await server.api("GET", "/v1/queues/many/tasks?tag=tenth&state=ready&limit=1");
  assert.ok(items.length === 1 && count > 5000, `${count}`);
  await dialog.getByRole("button", { name: "Cancel" }).last().click();
  await dialog.getByRole("progressbar").waitFor();
  await tab.getByText(/tasks changed/).waitFor();
  assert.deepEqual((await server.api("GET", "/v1/queues/many/tasks?tag=tenth&state=ready")).items, []);
  assert.deepEqual(faults, []);
  await close();
});
