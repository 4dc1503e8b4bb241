// Bundles: what is in them, and that they are delivered, tried again and deleted when somebody says so.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { looks } from "./looks.mjs";
import { openTab, startBrowser, startServer, until } from "./server.mjs";

const HOSTILE = "<img src=x onerror=window.hacked=1>שלום";
let server, browser, target, url, answering, got;
before(async () => {
  (answering = 500), (got = []);
  target = createServer((incoming, outgoing) => {
    let body = "";
    incoming.on("data", (chunk) => (body += chunk));
    incoming.on("end", () => {
      got.push(body);
      outgoing.writeHead(answering).end(HOSTILE);
    });
  });
  await new Promise((resolve) => target.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${target.address().port}/digest`;
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  const { api } = server;
  const service = Buffer.from(url).toString("base64url");
  await api("PUT", "/v1/queues/bundles", { max_attempts: 1 });
  for (const [key, query] of [["ada", "?ontime=2099-01-01T00:00:00Z"], ["grace", "?ontime=2099-01-02T00:00:00Z"], ["broken", ""]]) {
    await fetch(`${server.address}/v3/queue/${key}/POST/${service}${query}`, { method: "POST", body: `{"order":12345678901234567890,"for":${JSON.stringify(key)}}` });
    if (query) await api("POST", `/v3/queue/${key}/POST/${service}`, { note: HOSTILE });
  }
  for (const key of ["doc/7", HOSTILE, "doc/8"]) await api("POST", `/v1/queues/index/bundles/${encodeURIComponent(key)}/push`, { task: { set: "title" }, data: ["tenant-3", HOSTILE], ontime: "2099-01-01T00:00:00Z" });
  await until(async () => (await api("GET", "/v1/queues/bundles/bundles?state=failed")).items.length === 1, "a failed bundle");
});
after(() => Promise.all([server?.stop(), browser?.close(), new Promise((resolve) => (target.closeAllConnections(), target.close(resolve)))]));

const bundles = async (queue) => (await server.api("GET", `/v1/queues/${queue}/bundles`)).items;
const row = (tab, name) => tab.getByRole("row").filter({ has: tab.getByRole("link", { name, exact: true }) });

test("bundles are listed by queue, state and key", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "bundles?queue=bundles" });
  await row(tab, "ada").getByText(url).waitFor();
  await row(tab, "broken").locator("[data-state=failed]").waitFor();
  await tab.getByLabel("Key begins with").fill("gr");
  await row(tab, "ada").waitFor({ state: "detached" });
  await row(tab, "grace").waitFor();
  await tab.getByLabel("Key begins with").fill("");
  await tab.getByLabel("Queue").selectOption("index");
  await row(tab, HOSTILE).waitFor();
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
});

test("a bundle is looked into, delivered now, and gone", async () => {
  answering = 500;
  const { tab, faults, close } = await openTab(browser, server, { path: "bundles?queue=bundles", quiet: true });
  await row(tab, "ada").getByRole("link").click();
  await tab.getByRole("group", { name: "Payloads" }).getByText("12345678901234567890").waitFor();
  answering = 200;
  await tab.getByRole("button", { name: "Deliver now" }).click();
  await until(async () => (await bundles("bundles")).every(({ key }) => !key.startsWith("ada/")), "the delivery");
  const [first] = JSON.parse(got.at(-1));
  assert.equal(first.for, "ada");
  assert.deepEqual(faults, []);
  await close();
});

test("a failed one is tried again, and one is deleted", async () => {
  answering = 200;
  const { tab, faults, close } = await openTab(browser, server, { path: "bundles?queue=bundles", quiet: true });
  await tab.getByRole("button", { name: "Retry broken" }).click();
  await until(async () => (await bundles("bundles")).every(({ key }) => !key.startsWith("broken/")), "the delivery");
  await row(tab, "broken").waitFor({ state: "detached" });
  await tab.goto(`${server.url}/#/bundles/index/${encodeURIComponent("doc/7")}`);
  await tab.getByText("tenant-3").waitFor();
  await tab.getByRole("button", { name: "Make due now" }).click();
  await until(async () => (await bundles("index")).find(({ key }) => key === "doc/7").ontime < "2099", "the due time");
  await tab.getByRole("button", { name: "Delete" }).click();
  await tab.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await tab.getByRole("heading", { name: "Bundles", level: 1 }).waitFor();
  assert.ok((await bundles("index")).every(({ key }) => key !== "doc/7"));
  assert.deepEqual(faults, []);
  await close();
});

test("what is pushed elsewhere is seen at once", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "bundles/index/doc%2F8" });
  await tab.locator("[data-connection=live]").waitFor();
  await tab.getByRole("group", { name: "Payloads" }).waitFor();
  await server.api("POST", "/v1/queues/index/bundles/doc%2F8/push", { task: { set: "seen at once" } });
  await tab.getByText("seen at once").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("without the right to change nothing can be changed, and it reads in Chinese", async () => {
  const locked = await startServer({ config: '[[tokens]]\ntoken = "a-token-that-reads"\nrights = ["read"]\n[[tokens]]\ntoken = "a-token-for-all-rights"\nrights = ["produce"]\n' });
  await locked.apiWith("a-token-for-all-rights")("POST", "/v1/queues/index/bundles/seen/push", { task: 1 });
  const { tab, faults, close } = await openTab(browser, locked, { path: "bundles", token: "a-token-that-reads", language: "zh" });
  await tab.getByRole("link", { name: "seen" }).waitFor();
  assert.equal(await tab.getByRole("main").getByRole("button").count(), 0);
  await tab.getByRole("link", { name: "seen" }).click();
  await tab.getByRole("group", { name: "内容" }).waitFor();
  assert.equal(await tab.locator(".page-header button").count(), 0);
  assert.deepEqual(faults, []);
  await close();
  await locked.stop();
});

test("pictures", async () => {
  await looks(browser, server, "bundles", "bundles?queue=index", "tbody tr");
  await looks(browser, server, "bundle", "bundles/index/doc%2F8", ".json");
});
