// What pages say is so: nothing is promised that will not happen, and nothing is said to be done that is not.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { openTab, startBrowser, startServer, until } from "./server.mjs";

let server, browser, target;
before(async () => {
  target = createServer((incoming, outgoing) => incoming.resume().on("end", () => outgoing.end("fine")));
  await new Promise((resolve) => target.listen(0, "127.0.0.1", resolve));
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});
after(() => Promise.all([server?.stop(), browser?.close(), new Promise((resolve) => (target.closeAllConnections(), target.close(resolve)))]));

const api = (...request) => server.api(...request);
const button = (tab, name) => tab.getByRole("main").getByRole("button", { name, exact: true });
const toast = (tab, text) => tab.locator(".toast").getByText(text);
const take = async (queue) => (await api("POST", `/v1/queues/${queue}/take`, { worker: "w", hold: "10m" })).tasks[0];
const plan = (id, more = {}) => api("POST", "/v1/plans", { plan_id: id, station: `of-${id}`, plan_type: "hour", plan_value: 1, plan_repet: -1, ...more });

test("a plan that is paused or in error promises no runs, and no plan offers a skip that is refused", async () => {
  await plan("set-aside");
  await plan("broken", { max_attempts: 1, plan_type: "second" });
  await until(async () => (await api("GET", "/v1/plans/broken")).state === "running", "the first run");
  const { tab, faults, close } = await openTab(browser, server, { path: "plans/broken" });
  await tab.locator("h1 + [data-state=running]").waitFor();
  assert.equal(await button(tab, "Skip next").count(), 0);
  const { id, token } = await take("of-broken");
  await api("POST", `/v1/queues/of-broken/tasks/${id}/fail`, { token, error: "no tape" });
  await tab.locator("h1 + [data-state=error]").waitFor();
  await tab.getByText("Its last run failed, so it has stopped.").waitFor();
  assert.equal(await tab.getByRole("region", { name: "Next runs" }).count(), 0);
  assert.equal(await button(tab, "Skip next").count(), 0);

  await tab.goto(`${server.url}/#/plans/set-aside`);
  await tab.getByRole("region", { name: "Next runs" }).waitFor();
  await tab.getByRole("region", { name: "Calendar" }).locator(".busy").first().waitFor();
  await button(tab, "Skip next").waitFor();
  await button(tab, "Pause").click();
  await tab.getByText("It is paused. Nothing runs until it is resumed.").waitFor();
  await tab.getByRole("region", { name: "Runs if it is resumed now" }).waitFor();
  assert.equal(await tab.getByRole("region", { name: "Next runs" }).count(), 0);
  assert.equal(await tab.getByRole("region", { name: "Calendar" }).locator(".busy").count(), 0);
  assert.equal(await button(tab, "Skip next").count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test("a holder is asked to stop before anything is called cancelled, and a task that ends is not an error", async () => {
  await api("POST", "/v1/queues/stops/tasks", { id: "slow", payload: { kept: "in sight" } });
  const { token } = await take("stops");
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/stops/tasks/slow", quiet: true });
  await tab.locator("[data-connection=live]").waitFor();
  await button(tab, "Cancel").click();
  await toast(tab, "Its holder has been asked to stop").waitFor();
  assert.equal(await toast(tab, "Cancelled").count(), 0);
  await tab.locator("h1 ~ [data-state=cancelling]").waitFor();
  await api("POST", "/v1/queues/stops/tasks/slow/cancelled", { token });
  await tab.getByText("This task is no longer there").waitFor();
  await tab.getByText("in sight").waitFor();
  assert.equal(await tab.getByRole("alert").count(), 0);
  assert.equal(await button(tab, "Cancel").count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test("a flow whose tasks are held is being cancelled, not cancelled", async () => {
  await api("POST", "/v1/flows", { id: "held", steps: [{ name: "one", queue: "held-steps" }] });
  await take("held-steps");
  const { tab, faults, close } = await openTab(browser, server, { path: "flows/held" });
  await button(tab, "Cancel").click();
  await tab.getByRole("dialog").locator("button[type=submit]").click();
  await toast(tab, "held is being cancelled").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("a copy keeps every setting, and nothing hidden is sent as ***", async () => {
  await api("PUT", "/v1/queues/hooks", { mode: "http", url: "http://127.0.0.1:9/", max_attempts: 3 });
  await api("POST", "/v1/queues/hooks/pause");
  const http = { url: `http://127.0.0.1:${target.address().port}/a`, method: "PUT", headers: { Authorization: "Bearer it's secret", "X-Team": "blue" } };
  await api("POST", "/v1/queues/hooks/tasks", { id: "whole", payload: { note: "*** it's" }, max_attempts: 7, priority: 4, tags: ["x"], http });
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/hooks/tasks/whole" });
  await tab.getByText("The queue is paused.").waitFor();
  await button(tab, "Copy as curl").click();
  await toast(tab, "What is hidden here is not in the command").waitFor();
  const command = await tab.evaluate(() => navigator.clipboard.readText());
  const run = async (env) => (await promisify(execFile)("bash", ["-c", `${command} --silent --show-error`], { env: { PATH: process.env.PATH, ...env } })).stdout;
  await assert.rejects(run({}), /AUTHORIZATION/);
  const made = JSON.parse(await run({ AUTHORIZATION: "Bearer other" }));
  const settings = ({ payload, max_attempts, priority, tags, http: { url, method, headers } }) => ({ payload, max_attempts, priority, tags, url, method, headers });
  const whole = settings(await api("GET", "/v1/queues/hooks/tasks/whole"));
  assert.deepEqual(settings(await api("GET", `/v1/queues/hooks/tasks/${made.id}`)), whole);

  await button(tab, "Duplicate").click();
  const form = tab.getByRole("dialog");
  const push = form.getByRole("button", { name: "Push" });
  await form.getByText("*** stands for a value that is hidden here.").waitFor();
  assert.ok(await push.isDisabled());
  const field = form.getByLabel("http", { exact: true });
  await field.fill((await field.inputValue()).replace("***", "Bearer typed"));
  await form.getByLabel("Id").fill("copied");
  await push.click();
  await tab.getByRole("heading", { name: "copied" }).waitFor();
  assert.deepEqual(settings(await api("GET", "/v1/queues/hooks/tasks/copied")), whole);
  await api("DELETE", "/v1/queues/hooks");
  assert.deepEqual(faults, []);
  await close();
});

test("a delivery's payload is not called what was sent", async () => {
  await api("POST", "/v1/notices", { id: "paid", url: `http://127.0.0.1:${target.address().port}/`, data: "order=17" });
  const { tab, faults, close } = await openTab(browser, server, { path: "deliveries/notices/paid" });
  await tab.getByRole("region", { name: "Payload" }).getByText("What each attempt sent and got is told with the attempts.").waitFor();
  assert.equal(await tab.getByRole("region", { name: "Sent" }).count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test("a step that waits for others says so, and becomes a task in sight", async () => {
  await api("POST", "/v1/flows", { id: "two", steps: [{ name: "a", queue: "steps" }, { name: "b", queue: "steps", after: ["a"] }] });
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/steps/tasks/two~b", quiet: true });
  await tab.locator("h1 ~ [data-state=pending]").waitFor();
  await tab.getByText("Steps before it are not done.").waitFor();
  await tab.getByRole("link", { name: "two", exact: true }).first().waitFor();
  assert.equal(await tab.getByRole("alert").count(), 0);
  await tab.locator("[data-connection=live]").waitFor();
  const { id, token } = await take("steps");
  await api("POST", `/v1/queues/steps/tasks/${id}/commit`, { token });
  await tab.locator("h1 ~ [data-state=ready]").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("what is wrong in a form is in sight, below the bar", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "new-plan", quiet: true, height: 500 });
  const field = tab.getByLabel("Station");
  const inSight = () => tab.evaluate(() => {
    const { top, bottom } = (document.activeElement?.closest(".field") ?? document.body).getBoundingClientRect();
    return top >= (document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0) && bottom <= innerHeight;
  });
  await field.fill("no such name!");
  await button(tab, "Save").click();
  const wrong = tab.locator(".field", { has: field }).locator(".wrong");
  await wrong.waitFor();
  await until(inSight, "the refused field in sight");
  assert.equal(await field.evaluate((input) => input === document.activeElement), true);
  await field.fill("");
  await button(tab, "Save").click();
  await until(inSight, "the empty field in sight");
  assert.deepEqual(faults, []);
  await close();
});

test("edits are not lost without a question: by a link, by Back, by Escape", async () => {
  await api("PUT", "/v1/queues/edited", {});
  const { tab, faults, close } = await openTab(browser, server, { path: "plans" });
  await tab.getByRole("link", { name: "New plan" }).click();
  const field = tab.getByLabel("Description");
  await field.fill("typed with care");
  const question = tab.getByRole("dialog", { name: "Leave without saving?" });
  const stay = () => question.getByRole("button", { name: "Cancel" }).click();
  await tab.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Queues" }).click();
  await question.waitFor();
  await stay();
  assert.equal(await field.inputValue(), "typed with care");
  assert.match(tab.url(), /new-plan/);
  await tab.goBack();
  await question.waitFor();
  await stay();
  assert.equal(await field.inputValue(), "typed with care");
  await tab.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Queues" }).click();
  await question.getByRole("button", { name: "Discard changes" }).click();
  await tab.getByRole("heading", { name: "Queues", level: 1 }).waitFor();

  await tab.getByRole("link", { name: "edited", exact: true }).click();
  await button(tab, "Settings").click();
  const form = tab.getByRole("dialog", { name: "Settings: edited" });
  await form.waitFor();
  await tab.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await button(tab, "Settings").click();
  await form.getByLabel("Tag").fill("typed");
  for (let press = 0; press < 2; press += 1) {
    await tab.keyboard.press("Escape");
    await question.waitFor();
    await stay();
    await question.waitFor({ state: "detached" });
    assert.equal(await form.getByLabel("Tag").inputValue(), "typed");
  }
  await form.getByRole("button", { name: "Cancel" }).click();
  await question.getByRole("button", { name: "Discard changes" }).click();
  await form.waitFor({ state: "detached" });
  await button(tab, "Settings").click();
  await form.getByLabel("Tag").fill("saved");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  assert.equal(await question.count(), 0);
  assert.equal((await api("GET", "/v1/queues/edited")).tag, "saved");
  assert.deepEqual(faults, []);
  await close();
});

test("what is said of an outage goes when it is over; other errors stay", async () => {
  await api("PUT", "/v1/queues/away", {});
  const { tab, close } = await openTab(browser, server, { path: "queues/away", quiet: true });
  await tab.locator("[data-connection=live]").waitFor();
  await tab.route("**/pause", (route) => route.abort());
  await button(tab, "Pause").click();
  await toast(tab, "The server cannot be reached.").waitFor();
  await tab.unrouteAll();
  await api("POST", "/v1/queues/away/tasks", {});
  await toast(tab, "The server cannot be reached.").waitFor({ state: "detached" });
  await tab.route("**/pause", (route) => route.fulfill({ status: 409, json: { code: "wrong_state", detail: "not now" } }));
  await button(tab, "Pause").click();
  await toast(tab, "not now").waitFor();
  await api("POST", "/v1/queues/away/tasks", {});
  await tab.getByRole("link", { name: /^ready/i }).getByText("2").waitFor();
  assert.equal(await toast(tab, "not now").count(), 1);
  await close();
});

test("Running leads to where the running tasks are, whoever holds them", async () => {
  for (const [queue, n] of [["quiet", 0], ["busy", 3], ["busier", 5]]) {
    await api("PUT", `/v1/queues/${queue}`, {});
    if (n) await api("POST", `/v1/queues/${queue}/tasks`, { tasks: Array.from({ length: n }, () => ({})) });
    if (n) await api("POST", `/v1/queues/${queue}/take`, { n, hold: "10m" });
  }
  const { tab, faults, close } = await openTab(browser, server, {});
  await tab.getByRole("main").getByRole("link", { name: /^running/i }).click();
  const names = tab.locator("tbody .queue-name a:first-child");
  await until(async () => JSON.stringify((await names.allInnerTexts()).slice(0, 2)) === '["busier","busy"]', "the busiest first");
  await tab.getByLabel("Name").fill("BUS");
  await until(async () => JSON.stringify(await names.allInnerTexts()) === '["busier","busy"]', "those named so");
  assert.match(tab.url(), /name=BUS/);
  await tab.getByLabel("Sort by").selectOption("");
  await tab.getByLabel("Name").fill("no such");
  await tab.getByText("No queue matches.").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("more than a hundred are removed only by who types the name", async () => {
  await api("PUT", "/v1/queues/many", { max_attempts: 1 });
  await api("POST", "/v1/queues/many/tasks", { tasks: Array.from({ length: 101 }, () => ({})) });
  const { tasks } = await api("POST", "/v1/queues/many/take", { n: 101 });
  await api("POST", "/v1/queues/many/fail", { tasks: tasks.map(({ id, token }) => ({ id, token, error: "disk full", permanent: true })) });
  const { tab, faults, close } = await openTab(browser, server, { path: "failed" });
  await tab.getByRole("row").filter({ hasText: "disk full" }).getByRole("button", { name: "Clean" }).click();
  const dialog = tab.getByRole("dialog");
  await dialog.getByText("101 tasks match").waitFor();
  const clean = dialog.getByRole("button", { name: "Clean" });
  assert.ok(await clean.isDisabled());
  await dialog.getByRole("textbox").fill("many");
  await clean.click();
  await until(async () => (await api("GET", "/v1/queues/many")).counts.failed === 0, "all gone");
  assert.deepEqual(faults, []);
  await close();
});
