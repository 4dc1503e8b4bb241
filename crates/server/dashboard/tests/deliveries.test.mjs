// Deliveries: each attempt is shown as it was, and what failed is sent again, one by one or since a time.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { looks } from "./looks.mjs";
import { openTab, startBrowser, startServer, until } from "./server.mjs";

const HOSTILE = "<img src=x onerror=window.hacked=1>שלום\u202E";
let server, browser, target, url, answering, got;

before(async () => {
  (answering = 503), (got = []);
  target = createServer((incoming, outgoing) => {
    let body = "";
    incoming.on("data", (chunk) => (body += chunk));
    incoming.on("end", () => {
      got.push({ path: incoming.url, body });
      outgoing.writeHead(incoming.url.startsWith("/good") ? 200 : answering, { "content-type": "text/html" });
      outgoing.end(`the answer ${HOSTILE}`);
    });
  });
  await new Promise((resolve) => target.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${target.address().port}`;
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  const { api } = server;
  await api("PUT", "/v1/queues/hooks", { mode: "http", url: `${url}/hooks`, max_attempts: 2, retry: { intervals: [0.2] }, keep: { done: "1h" }, secret: "a secret of this queue" });
  await api("POST", "/v1/queues/hooks/tasks", { tasks: Array.from({ length: 6 }, (_, n) => ({ id: `hook-${n}`, payload: { order: n, note: HOSTILE } })) });
  await api("POST", "/v1/queues/hooks/tasks", { id: "fine", payload: { order: 17 }, http: { url: `${url}/good?x=${encodeURIComponent(HOSTILE)}`, method: "PUT", headers: { Authorization: "Bearer secret" } } });
  await api("POST", "/v1/queues/hooks/tasks", { id: "plain", payload: { big: "12345678901234567890" }, http: { url: `${url}/good` } });
  await api("POST", "/v1/queues/hooks/tasks", { id: "later", payload: {}, delay: "1h" });
  await api("POST", "/v1/queues/hooks/tasks", { id: "nobody", payload: {}, http: { url: "http://127.0.0.1:9/nobody" } });
  await api("POST", "/v1/notices", { id: "paid-17", url: `${url}/paid`, data: "order=17", max_notices: 1 });
  await until(async () => (await api("GET", "/v1/queues/hooks")).counts.failed === 7, "failed deliveries");
  await until(async () => (await api("GET", "/v1/notices/paid-17")).state === "exhausted", "an exhausted notice");
});
after(() => Promise.all([server?.stop(), browser?.close(), new Promise((resolve) => (target.closeAllConnections(), target.close(resolve)))]));

const task = (id, queue = "hooks") => server.api("GET", `/v1/queues/${queue}/tasks/${id}`);

test("the list shows targets, states and answers; targets say how they are", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "deliveries" });
  const list = tab.getByRole("table", { name: "Deliveries" });
  await list.getByText("503", { exact: true }).first().waitFor();
  await list.getByRole("img", { name: /first byte/ }).first().waitFor();
  await tab.getByLabel("State").selectOption("done");
  await until(async () => await list.getByRole("row").count() === 3, "what is done");
  await tab.getByLabel("State").selectOption("");
  await tab.getByLabel("Queue").selectOption("notices");
  await list.getByRole("link", { name: `${url}/paid` }).waitFor();
  const { items } = await server.api("GET", "/v1/hosts");
  const targets = tab.getByRole("table", { name: "Targets" });
  for (const { host, state } of items) await targets.getByRole("row").filter({ has: tab.getByText(host, { exact: true }) }).locator(`[data-state=${state}]`).waitFor();
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
});

test("a target that cannot be reached is left alone, and says so", async () => {
  await server.api("PUT", "/v1/queues/down", { mode: "http", url: "http://127.0.0.1:1/down", max_attempts: 1 });
  await server.api("POST", "/v1/queues/down/tasks", { tasks: Array.from({ length: 20 }, () => ({})) });
  const down = async () => (await server.api("GET", "/v1/hosts")).items.find(({ host }) => host === "127.0.0.1:1");
  await until(async () => ["open", "probing"].includes((await down())?.state), "an open breaker");
  const { tab, faults, close } = await openTab(browser, server, { path: "deliveries?queue=down" });
  await tab.getByRole("table", { name: "Targets" }).getByRole("row").filter({ has: tab.getByText("127.0.0.1:1", { exact: true }) }).locator("[data-state=open], [data-state=probing]").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("a delivery shows each attempt and is sent again", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "deliveries/hooks/hook-1" });
  const attempts = tab.getByRole("region", { name: "Attempts" }).locator(".attempts > li");
  await until(async () => await attempts.count() === 2, "both attempts");
  await attempts.first().getByText("HTTP 503").waitFor();
  await attempts.first().getByText(`the answer ${HOSTILE}`).waitFor();
  await attempts.first().getByText("first byte").waitFor();
  answering = 200;
  await tab.getByRole("button", { name: "Resend" }).click();
  await tab.locator("h1 + [data-state=done]").waitFor();
  assert.equal((await task("hook-1")).state, "done");
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
});

test("what was delivered is sent again as a copy, unless something of it is hidden", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "deliveries/hooks/plain" });
  const before = got.length;
  await tab.getByRole("button", { name: "Send again" }).click();
  await until(async () => got.length > before, "the request");
  assert.deepEqual(got.at(-1), { path: "/good", body: '{"big":"12345678901234567890"}' });
  await tab.goto(`${server.url}/#/deliveries/hooks/fine`);
  await tab.getByText('"***"').waitFor();
  assert.equal(await tab.getByRole("button", { name: "Send again" }).count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test("a notice is sent again from the list", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "deliveries?queue=notices" });
  const before = got.filter(({ path }) => path === "/paid").length;
  await tab.getByRole("button", { name: "Resend paid-17" }).click();
  await until(async () => got.filter(({ path }) => path === "/paid").length > before, "another notice");
  assert.deepEqual(faults, []);
  await close();
});

test("what failed since a time is counted, then sent again", async () => {
  answering = 200;
  const { tab, faults, close } = await openTab(browser, server, { path: "deliveries?queue=hooks" });
  await tab.getByRole("button", { name: "Recover…" }).click();
  const dialog = tab.getByRole("dialog");
  await dialog.getByLabel("Failed since").fill("2099-01-01T00:00:00");
  await dialog.getByRole("button", { name: "Count" }).click();
  await dialog.getByText("0 tasks match").waitFor();
  assert.ok(await dialog.locator("button[type=submit]").isDisabled());
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await tab.getByRole("button", { name: "Recover…" }).click();
  await dialog.getByRole("button", { name: "Count" }).click();
  await dialog.getByText("6 tasks match").waitFor();
  await dialog.locator("button[type=submit]").click();
  await until(async () => (await server.api("GET", "/v1/queues/hooks")).counts.failed <= 1 && (await task("hook-5")).state === "done", "the recovery");
  assert.deepEqual(faults, []);
  await close();
});

test("without the right to change nothing can be changed, and it reads in Chinese", async () => {
  const locked = await startServer({ config: '[[tokens]]\ntoken = "a-token-that-reads"\nrights = ["read"]\nqueues = ["hooks"]\n[[tokens]]\ntoken = "a-token-for-all-rights"\nrights = ["read", "produce", "admin"]\n' });
  const api = locked.apiWith("a-token-for-all-rights");
  await api("PUT", "/v1/queues/hooks", { mode: "http", url: "http://127.0.0.1:9/x", max_attempts: 1 });
  await api("POST", "/v1/queues/hooks/tasks", { id: "seen" });
  await until(async () => (await api("GET", "/v1/queues/hooks/tasks/seen")).state === "failed", "a failure");
  const { tab, faults, close } = await openTab(browser, locked, { path: "deliveries", token: "a-token-that-reads", language: "zh" });
  await tab.getByRole("table", { name: "投递" }).getByText("失败", { exact: true }).waitFor();
  assert.equal(await tab.getByRole("table", { name: "目标" }).count(), 0);
  assert.equal(await tab.getByRole("main").getByRole("button").count(), 0);
  await tab.getByRole("table").getByRole("link").first().click();
  await tab.getByRole("region", { name: "尝试" }).waitFor();
  assert.equal(await tab.locator(".page-header button").count(), 0);
  assert.deepEqual(faults, []);
  await close();
  await locked.stop();
});

test("pictures", async () => {
  await looks(browser, server, "deliveries", "deliveries?queue=hooks", "tbody tr");
  await looks(browser, server, "delivery", "deliveries/hooks/hook-2", ".attempts .phases");
});
