// Queues: what is shown is what the API says, and what is done is done.

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

const queue = (name) => server.api("GET", `/v1/queues/${name}`);

test("the list shows what queues hold, and pauses and resumes them", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues" });
  const row = tab.getByRole("row").filter({ has: tab.getByRole("link", { name: "mail", exact: true }) });
  const { counts } = await queue("mail");
  await row.getByRole("link", { name: String(counts.failed), exact: true }).first().waitFor();
  await row.getByRole("button", { name: "Pause mail" }).click();
  await until(async () => (await queue("mail")).paused, "the pause");
  await row.getByText("paused").waitFor();
  await row.getByRole("button", { name: "Resume mail" }).click();
  await until(async () => !(await queue("mail")).paused, "the resumption");
  await row.getByText("paused").waitFor({ state: "detached" });
  assert.deepEqual(faults, []);
  await close();
});

test("filters are in the address bar, and the address brings them back", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues" });
  await tab.getByLabel("Tag").fill("production");
  await tab.getByRole("link", { name: "thumbnails" }).waitFor({ state: "detached" });
  assert.match(tab.url(), /tag=production/);
  await tab.reload();
  await tab.getByRole("link", { name: "invoices" }).waitFor();
  assert.equal(await tab.getByLabel("Tag").inputValue(), "production");
  assert.equal(await tab.getByRole("link", { name: "thumbnails" }).count(), 0);
  await tab.getByLabel("Tag").fill("");
  await tab.getByLabel("Mode").selectOption("http");
  await tab.getByRole("link", { name: "callbacks" }).waitFor();
  await tab.getByRole("link", { name: "mail", exact: true }).waitFor({ state: "detached" });
  await tab.goBack();
  await tab.getByRole("link", { name: "mail", exact: true }).waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("a queue is made, set, and deleted after its name was typed", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues", quiet: true });
  await tab.getByRole("button", { name: "New queue" }).click();
  await tab.getByRole("dialog").getByLabel("Name").fill("hooks");
  await tab.getByRole("dialog").getByLabel("Mode").selectOption("http");
  await tab.getByLabel("URL").fill("http://127.0.0.1:9/hook");
  await tab.getByRole("button", { name: "Create" }).click();
  await tab.getByRole("heading", { name: "hooks", level: 1 }).waitFor();
  assert.equal((await queue("hooks")).url, "http://127.0.0.1:9/hook");

  await tab.getByRole("button", { name: "Settings" }).click();
  const form = tab.getByRole("dialog");
  await form.getByLabel("Hold").fill("90s");
  await form.getByLabel("Attempts, at most").fill("7");
  await form.getByLabel("Waits").fill("10s, 1m");
  await form.getByLabel("Handed out, at most").fill("5");
  await form.getByLabel("in a time of").fill("1m");
  await form.getByLabel("Done, for").fill("2h");
  await form.getByLabel("Headers").fill("X-Team: blue\nAuthorization: Bearer secret");
  await form.getByLabel("Secret").fill("raw secret bytes");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  const set = await queue("hooks");
  assert.deepEqual([set.hold, set.max_attempts, set.retry.intervals, set.rate, set.keep.done, set.keep.failed], [90, 7, [10, 60], { limit: 5, per: 60 }, 7200, 604800]);
  assert.deepEqual([set.headers["X-Team"] ?? set.headers["x-team"], set.secret], ["blue", "***"]);

  await tab.getByRole("button", { name: "Settings" }).click();
  await form.getByLabel("Hold").fill("soon");
  await form.getByRole("button", { name: "Save" }).click();
  await tab.getByRole("alert").getByText("hold").waitFor();
  await form.getByLabel("Hold").fill("");
  await form.getByLabel("Handed out, at most").fill("");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  const back = await queue("hooks");
  assert.deepEqual([back.hold, back.rate, back.max_attempts, back.headers.Authorization ?? back.headers.authorization], [30, null, 7, "***"]);

  await tab.getByRole("button", { name: "Delete" }).click();
  const confirm = tab.getByRole("dialog").getByRole("button", { name: "Delete" });
  assert.ok(await confirm.isDisabled());
  await tab.getByRole("dialog").getByRole("textbox").fill("hooks");
  await confirm.click();
  await tab.getByRole("heading", { name: "Queues", level: 1 }).waitFor();
  await assert.rejects(queue("hooks"), /404/);
  assert.deepEqual(faults, []);
  await close();
});

test("drain removes what nobody has taken, reset everything", async () => {
  await server.api("POST", "/v1/queues/drained/tasks", { tasks: Array.from({ length: 30 }, (_, n) => ({ payload: n, ...(n % 2 ? { delay: "1h" } : {}) })) });
  await server.api("POST", "/v1/queues/drained/take", { n: 3, hold: "10m" });
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/drained" });
  const dialog = tab.getByRole("dialog");
  await tab.getByRole("button", { name: "Drain" }).click();
  await dialog.getByText("27 tasks match").waitFor();
  await dialog.getByRole("textbox").fill("drained");
  assert.equal(await dialog.getByRole("button", { name: "Clean" }).count(), 0);
  await dialog.getByRole("button", { name: "Drain" }).click();
  await tab.getByText("27 tasks changed").waitFor();
  const { counts } = await queue("drained");
  assert.deepEqual([counts.total, counts.running], [3, 3]);

  await tab.getByRole("button", { name: "Reset" }).click();
  await dialog.getByRole("textbox").fill("drained");
  await dialog.getByRole("button", { name: "Reset" }).click();
  await until(async () => (await queue("drained")).counts.total === 0, "an empty queue");
  assert.deepEqual(faults, []);
  await close();
});

test("what happens elsewhere is seen at once", async () => {
  await server.api("PUT", "/v1/queues/watched", {});
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/watched" });
  await tab.locator("[data-connection=live]").waitFor();
  const ready = tab.getByRole("link", { name: /^ready/i });
  await ready.getByText("0").waitFor();
  await server.api("POST", "/v1/queues/watched/tasks", { tasks: [{}, {}, {}] });
  await ready.getByText("3").waitFor();
  await server.api("POST", "/v1/queues/watched/pause");
  await tab.locator("[data-state=paused]").waitFor();
  assert.deepEqual(faults, []);
  await close();
});
