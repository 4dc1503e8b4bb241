// Tasks: finding them, and one verb for all that match.

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

const ids = async (query) => (await server.api("GET", `/v1/queues/mail/tasks?limit=1000&${query}`)).items.map((task) => task.id);
const rows = (tab) => tab.locator("tbody tr");

test("tasks are found by state, tag, id and text, and the address keeps it", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "tasks?queue=mail" });
  await rows(tab).first().waitFor();
  await tab.getByRole("group", { name: "States" }).getByRole("button", { name: /failed/ }).click();
  await until(async () => (await rows(tab).count()) === 4, "the failed ones");
  assert.match(tab.url(), /state=failed/);
  await tab.getByRole("group", { name: "States" }).getByRole("button", { name: /cancelled/ }).click();
  assert.match(decodeURIComponent(tab.url()), /state=failed,cancelled/);
  await tab.getByRole("button", { name: "Clear filters" }).click();
  await tab.getByLabel("Tag").fill("digest");
  await until(async () => (await rows(tab).count()) === 12, "the digests");
  await tab.getByLabel("Id begins with").fill("digest-1");
  await until(async () => (await rows(tab).count()) === (await ids("id=digest-1")).length, "their first");
  await tab.reload();
  await until(async () => (await rows(tab).count()) === 4, "the same after a reload");
  await tab.getByRole("button", { name: "Clear filters" }).click();
  await tab.getByLabel("Text in the payload").fill("radia@");
  await until(async () => (await rows(tab).count()) === (await ids("q=radia@")).length, "those with the text");
  await tab.getByRole("button", { name: "Clear filters" }).click();
  await tab.getByLabel("Text in the error").fill("550");
  await until(async () => (await rows(tab).count()) === 4, "those with the error");
  await tab.getByLabel("Ended or failed since").fill("2020-01-01T00:00:00");
  await tab.waitForURL(/since=20(19|20)-/);
  await until(async () => (await rows(tab).count()) === 4, "those since long ago");
  await tab.getByLabel("Ended or failed since").fill("2090-01-01T00:00:00");
  await until(async () => (await rows(tab).count()) === 0, "none since then");
  await tab.getByRole("button", { name: "Clear filters" }).click();
  await tab.getByLabel("Text in the error").fill("550");
  await until(async () => (await rows(tab).count()) === 4, "those with the error again");
  await tab.getByLabel("Queue").fill("thumbnails");
  await tab.getByLabel("Queue").press("Enter");
  await tab.getByRole("main").getByText("No task matches.").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("pages go on and back", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "tasks?queue=mail" });
  await until(async () => (await rows(tab).count()) === 50, "a page");
  const first = await rows(tab).first().innerText();
  await tab.getByRole("button", { name: "Next" }).click();
  await until(async () => (await rows(tab).count()) === 2, "the rest");
  await tab.getByRole("button", { name: "Previous" }).click();
  await until(async () => (await rows(tab).count()) === 50, "the first page");
  assert.equal((await rows(tab).first().innerText()).split("\n")[0], first.split("\n")[0]);
  assert.deepEqual(faults, []);
  await close();
});

test("a verb for all that match says how many first, and does them all", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "tasks?queue=mail&state=failed" });
  const dialog = tab.getByRole("dialog");
  const bar = tab.getByRole("group", { name: "For all tasks of this list" });
  const failed = await ids("state=failed");
  await bar.getByRole("button", { name: "Retry…" }).click();
  await dialog.getByText("4 tasks match").waitFor();
  assert.deepEqual(await ids("state=failed"), failed);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  await bar.getByRole("button", { name: "Retry…" }).click();
  await dialog.getByText("4 tasks match").waitFor();
  await dialog.getByRole("button", { name: "Retry" }).click();
  await tab.getByText("4 tasks changed").waitFor();
  assert.deepEqual(await ids("state=failed"), []);

  await tab.goto(`${server.url}/#/tasks?queue=mail&tag=digest`);
  await bar.getByRole("button", { name: "Pause…" }).click();
  await dialog.getByText("12 tasks match").waitFor();
  await dialog.getByRole("button", { name: "Pause" }).click();
  await until(async () => (await ids("state=paused")).length === 12, "all paused");
  await bar.getByRole("button", { name: "Resume…" }).click();
  await dialog.getByText("12 tasks match").waitFor();
  await dialog.getByRole("button", { name: "Resume" }).click();
  await until(async () => (await ids("state=paused")).length === 0, "all resumed");
  await bar.getByRole("button", { name: "Cancel…" }).click();
  await dialog.getByText("12 tasks match").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).last().click();
  await until(async () => (await ids("state=cancelled")).length === 12, "all cancelled");
  await dialog.waitFor({ state: "detached" });
  await bar.getByRole("button", { name: "Clean…" }).click();
  await dialog.getByText("12 tasks match").waitFor();
  const clean = dialog.getByRole("button", { name: "Clean" });
  assert.ok(await clean.isDisabled());
  await dialog.getByRole("textbox").fill("mail");
  await clean.click();
  await until(async () => (await ids("tag=digest")).length === 0, "all gone");
  assert.deepEqual(faults, []);
  await close();
});

test("a task is pushed, and no digit of its payload is lost", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "tasks?queue=mail" });
  await tab.getByRole("button", { name: "New task" }).click();
  const form = tab.getByRole("dialog");
  await form.getByLabel("Payload").fill('{"n": 1,}');
  await form.getByText("a string expected").waitFor();
  assert.ok(await form.getByRole("button", { name: "Push" }).isDisabled());
  await form.getByLabel("Payload").fill('{"n": 12345678901234567890.10}');
  await form.getByLabel("Id").fill("by-hand");
  await form.getByLabel("Tags").fill("a, b");
  await form.getByLabel("Priority").fill("7");
  await form.getByRole("button", { name: "Push" }).click();
  await tab.getByRole("heading", { name: "by-hand" }).waitFor();
  await tab.getByText("12345678901234567890.10").waitFor();
  const text = await (await fetch(`${server.address}/v1/queues/mail/tasks/by-hand`)).text();
  assert.ok(text.includes("12345678901234567890.10"), text);
  await tab.goto(`${server.url}/#/tasks?queue=mail&id=by-hand`);
  await tab.locator("tbody").getByText("12345678901234567890.10").waitFor();
  const task = JSON.parse(text);
  assert.deepEqual([task.tags, task.priority], [["a", "b"], 7]);
  assert.deepEqual(faults, []);
  await close();
});

test("rows are walked with the keyboard and opened with Enter", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "tasks?queue=mail&tag=vip" });
  await rows(tab).first().waitFor();
  await tab.keyboard.press("j");
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("k");
  await tab.keyboard.press("End");
  const last = await rows(tab).last().locator("a").first().innerText();
  assert.equal(await tab.evaluate(() => document.activeElement?.querySelector("a")?.innerText), last);
  await tab.keyboard.press("Enter");
  await tab.getByRole("heading", { name: last }).waitFor();
  assert.deepEqual(faults, []);
  await close();
});
