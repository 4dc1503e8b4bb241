// Failed tasks by what went wrong, tried again or removed as a group.

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

const failed = async (queue) => (await server.api("GET", `/v1/queues/${queue}`)).counts.failed;

test("groups are shown with their number, and retried or cleaned whole", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "failed" });
  const row = (text) => tab.getByRole("row").filter({ hasText: text });
  await row("550 mailbox").getByText("4", { exact: true }).waitFor();
  await row("out of memory").getByText("2", { exact: true }).waitFor();

  await row("550 mailbox").getByRole("button", { name: "Retry" }).click();
  const dialog = tab.getByRole("dialog");
  await dialog.getByText("4 tasks match").waitFor();
  await dialog.getByRole("button", { name: "Retry" }).click();
  await until(async () => (await failed("mail")) === 0, "all tried again");
  await row("550 mailbox").waitFor({ state: "detached" });

  await row("out of memory").getByRole("button", { name: "Clean" }).click();
  await dialog.getByText("2 tasks match").waitFor();
  await dialog.getByRole("button", { name: "Clean" }).click();
  await until(async () => (await failed("thumbnails")) === 0, "all gone");
  await tab.getByText("Nothing has failed.").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("a group leads to its tasks, and a new failure is seen at once", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "failed?queue=fresh" , quiet: true });
  await server.api("POST", "/v1/queues/fresh/tasks", { id: "one" });
  const { tasks: [task] } = await server.api("POST", "/v1/queues/fresh/take", {});
  await server.api("POST", "/v1/queues/fresh/tasks/one/fail", { token: task.token, error: "disk on fire", permanent: true });
  await tab.getByRole("link", { name: "disk on fire" }).click();
  await tab.getByRole("heading", { name: "Tasks" }).waitFor();
  await tab.getByRole("link", { name: "one" }).waitFor();
  assert.match(tab.url(), /state=failed/);
  assert.deepEqual(faults, []);
  await close();
});
