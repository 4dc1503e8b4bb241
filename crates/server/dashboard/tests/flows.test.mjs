// Flows: the graph shows what the API says, while it happens, and thousands of steps are no more than a few.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { looks } from "./looks.mjs";
import { openTab, startBrowser, startServer, until } from "./server.mjs";

const HOSTILE = "<img src=x onerror=window.hacked=1>שלום\u202E";
const step = (name, queue, ...after) => ({ name, queue, after, max_attempts: 1, payload: { order: 7 } });
let server, browser;

async function work(queue, outcome, body) {
  const { tasks: [task] } = await server.api("POST", `/v1/queues/${queue}/take`, { worker: "w1", hold: "10m" });
  if (outcome) await server.api("POST", `/v1/queues/${queue}/tasks/${task.id}/${outcome}`, { token: task.token, ...body });
}

before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  await server.api("POST", "/v1/flows", { id: "order-7", on_failure: "continue", steps: [
    step("check", "orders"), step("charge", "payments", "check"), step("reserve", "warehouse", "check"), step("fraud-score", "risk", "check"),
    step("pack", "warehouse", "reserve"), step("label", "labels", "reserve", "charge"), step("ship", "warehouse", "pack", "label", "fraud-score"),
    step("invoice", "books", "charge"), step("thank-you-with-a-rather-long-name", "mail", "ship", "invoice"), step("review-in-a-week", "mail", "thank-you-with-a-rather-long-name"),
  ] });
  await work("orders", "commit", { result: { ok: true } });
  await work("payments", "commit", { result: { receipt: "r-1", amount: 12345678901234567890n.toString(), note: HOSTILE } });
  await work("risk", "fail", { error: `model not found ${HOSTILE}` });
  await work("warehouse", "commit", { result: "shelf 4" });
  await work("labels");
});
after(() => Promise.all([server?.stop(), browser?.close()]));

const flow = (id) => server.api("GET", `/v1/flows/${id}`);

test("the graph shows every step with its state, and the list is filtered", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "flows" });
  await tab.getByRole("link", { name: "order-7" }).click();
  const graph = tab.getByRole("group", { name: "Graph" });
  for (const { name, state } of (await flow("order-7")).steps) await graph.locator(`[data-step="${name}"][data-state="${state}"]`).waitFor();
  await graph.getByRole("link", { name: /fraud-score.*failed/ }).click();
  const details = tab.getByRole("region", { name: "fraud-score" });
  await details.getByText("model not found <img").waitFor();
  assert.match(tab.url(), /step=fraud-score/);
  await graph.getByRole("link", { name: /charge.*done/ }).click();
  await tab.getByRole("region", { name: "charge" }).getByText('"r-1"').waitFor();
  await graph.getByRole("link", { name: /check.*done/ }).focus();
  await tab.keyboard.press("ArrowRight");
  await tab.keyboard.press("Enter");
  await tab.waitForURL(/step=charge/);
  await tab.goto(`${server.url}/#/flows/order-7?name=PACK`);
  await until(async () => await tab.getByRole("table", { name: "Steps" }).getByRole("row").count() === 2, "one row");
  await tab.goto(`${server.url}/#/flows?state=done`);
  await tab.getByText("No flow matches.").waitFor();
  assert.equal(await tab.evaluate(() => window.hacked), undefined);
  assert.deepEqual(faults, []);
  await close();
});

test("states change while they are looked at", async () => {
  await server.api("POST", "/v1/flows", { id: "live", steps: [step("one", "live"), step("two", "live", "one")] });
  const { tab, faults, close } = await openTab(browser, server, { path: "flows/live" });
  await tab.locator("[data-connection=live]").waitFor();
  await tab.locator("[data-step=one][data-state=ready]").waitFor();
  await work("live", "commit", { result: 1 });
  await tab.locator("[data-step=one][data-state=done]").waitFor();
  await tab.locator("[data-step=two][data-state=ready]").waitFor();
  await work("live", "commit", { result: 2 });
  await tab.locator("h1 + [data-state=done]").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("a flow is paused, resumed, cancelled and retried", async () => {
  await server.api("POST", "/v1/flows", { id: "acted", steps: [step("one", "acted"), step("two", "acted", "one")] });
  const { tab, faults, close } = await openTab(browser, server, { path: "flows/acted" });
  await tab.getByRole("button", { name: "Pause" }).click();
  await tab.locator("h1 + [data-state=paused]").waitFor();
  assert.equal((await flow("acted")).state, "paused");
  await tab.getByRole("button", { name: "Resume" }).click();
  await tab.locator("h1 + [data-state=running]").waitFor();
  await tab.getByRole("button", { name: "Cancel" }).click();
  await tab.getByRole("dialog").locator("button[type=submit]").click();
  await tab.locator("h1 + [data-state=cancelled]").waitFor();
  assert.equal((await flow("acted")).state, "cancelled");
  await tab.getByRole("button", { name: "Retry failed" }).click();
  await until(async () => (await flow("acted")).state === "running", "the retry");
  await tab.locator("h1 + [data-state=running]").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("five thousand steps are listed in part and drawn around the one that is chosen", async () => {
  const steps = Array.from({ length: 5000 }, (_, n) => step(`s${n}`, "many", ...(n ? [`s${Math.floor((n - 1) / 3)}`] : [])));
  await server.api("POST", "/v1/flows", { id: "many", steps });
  const { tab, faults, close } = await openTab(browser, server, { path: "flows/many" });
  await tab.getByText("This flow has 5,000 steps.").waitFor();
  const rows = tab.getByRole("table", { name: "Steps" }).getByRole("row");
  assert.equal(await rows.count(), 101);
  await tab.getByLabel("Name contains").fill("s1234");
  await tab.getByRole("link", { name: "s1234", exact: true }).click();
  await tab.locator("[data-step=s411]").waitFor();
  await tab.locator("[data-step=s3704]").waitFor();
  assert.ok(await tab.locator("[data-step]").count() <= 40);
  assert.deepEqual(faults, []);
  await close();
});

test("without the right to change nothing can be changed, and it reads in Chinese", async () => {
  const locked = await startServer({ config: '[[tokens]]\ntoken = "a-token-that-reads"\nrights = ["read"]\n[[tokens]]\ntoken = "a-token-for-all-rights"\nrights = ["read", "produce"]\n' });
  await locked.apiWith("a-token-for-all-rights")("POST", "/v1/flows", { id: "seen", steps: [step("one", "q")] });
  const { tab, faults, close } = await openTab(browser, locked, { path: "flows/seen", token: "a-token-that-reads", language: "zh" });
  await tab.getByRole("group", { name: "图" }).getByText("就绪").waitFor();
  assert.equal(await tab.locator(".page-header button").count(), 0);
  assert.deepEqual(faults, []);
  await close();
  await locked.stop();
});

test("pictures", async () => {
  await looks(browser, server, "flows", "flows", "tbody tr");
  await looks(browser, server, "flow", "flows/order-7?step=charge", ".node");
});
