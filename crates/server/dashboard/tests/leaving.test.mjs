// An answer moves nobody who has gone elsewhere: each action that leads to another page is asked for, its answer held
// back, the page left, and then the answer comes.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { holdAnswers, openTab, startBrowser, startServer, until } from "./server.mjs";

let server, browser, target;
before(async () => {
  target = createServer((incoming, outgoing) => incoming.resume().on("end", () => outgoing.end("fine")));
  await new Promise((resolve) => target.listen(0, "127.0.0.1", resolve));
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  const { api } = server;
  await api("PUT", "/v1/queues/hooks", { mode: "http", url: `http://127.0.0.1:${target.address().port}/`, keep: { done: "1h" } });
  await api("POST", "/v1/queues/hooks/tasks", { id: "sent" });
  await api("POST", "/v1/queues/work/tasks", { tasks: [{ id: "one" }, { id: "two" }, { id: "three" }] });
  await api("PUT", "/v1/queues/gone", {});
  await api("PUT", "/v1/workers/idle", { queues: ["given"] });
  await api("POST", "/v1/queues/index/bundles/doc/push", { task: 1, ontime: "2099-01-01T00:00:00Z" });
  for (const id of ["gone", "edited"]) await api("POST", "/v1/plans", { plan_id: id, station: "reports", plan_type: "hour", plan_value: 1, plan_repet: -1 });
  await until(async () => (await api("GET", "/v1/queues/hooks/tasks/sent")).state === "done", "the delivery");
});
after(() => Promise.all([server?.stop(), browser?.close(), new Promise((resolve) => (target.closeAllConnections(), target.close(resolve)))]));

const button = (tab, name) => tab.getByRole("main").getByRole("button", { name, exact: true });
const dialog = (tab) => tab.getByRole("dialog");
const confirmed = (name, typed) => async (tab) => {
  await button(tab, name).click();
  if (typed) await dialog(tab).getByRole("textbox").fill(typed);
  await dialog(tab).getByRole("button", { name, exact: true }).click();
};

/** What is asked for: its name, the page, the method it is sent with, what is said when it is done, and the clicks. */
const ACTIONS = [
  ["send a delivery again", "deliveries/hooks/sent", "POST", "is sent", (tab) => button(tab, "Send again").click()],
  ["remove a task", "queues/work/tasks/one", "DELETE", "Removed", confirmed("Clean")],
  ["push a copy of a task", "queues/work/tasks/two", "POST", "is pushed", async (tab) => {
    await button(tab, "Duplicate").click();
    await dialog(tab).getByRole("button", { name: "Push" }).click();
  }],
  ["create a queue", "queues", "PUT", "made is created", async (tab) => {
    await button(tab, "New queue").click();
    await dialog(tab).getByLabel("Name").fill("made");
    await dialog(tab).getByRole("button", { name: "Create" }).click();
  }],
  ["delete a queue", "queues/gone", "DELETE", "gone is deleted", confirmed("Delete", "gone")],
  ["remove a worker", "workers/idle", "DELETE", "idle", confirmed("Remove")],
  ["delete a bundle", "bundles/index/doc", "DELETE", "deleted", confirmed("Delete")],
  ["delete a plan", "plans/gone", "DELETE", "gone is deleted", confirmed("Delete", "gone")],
  ["save a plan", "plans/edited/edit", "PUT", "edited is saved", (tab) => button(tab, "Save").click()],
];

for (const [name, path, method, said, ask] of ACTIONS) {
  test(`${name}: the answer moves nobody who has left`, async () => {
    const { tab, faults, close } = await openTab(browser, server, { path, quiet: true });
    const { sent, release } = await holdAnswers(tab, method);
    await ask(tab);
    await sent;
    await tab.goto(`${server.url}/#/system`);
    await tab.getByRole("heading", { name: "System", level: 1 }).waitFor();
    assert.equal(await dialog(tab).count(), 0);
    release();
    await tab.locator(".toast").getByText(said).waitFor();
    assert.match(tab.url(), /#\/system$/);
    await tab.getByRole("heading", { name: "System", level: 1 }).waitFor();
    assert.deepEqual(faults, []);
    await close();
  });
}

test("who came back to the page is not moved either, and who closed the form stays", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/work/tasks/three" });
  let held = await holdAnswers(tab, "POST");
  const ask = async () => {
    await button(tab, "Duplicate").click();
    await dialog(tab).getByRole("button", { name: "Push" }).click();
    await held.sent;
  };
  await ask();
  await tab.goto(`${server.url}/#/system`);
  await tab.getByRole("heading", { name: "System", level: 1 }).waitFor();
  await tab.goBack();
  await tab.getByRole("heading", { name: "three", level: 1 }).waitFor();
  held.release();
  await tab.locator(".toast").getByText("is pushed").waitFor();
  assert.match(tab.url(), /\/three$/);

  await tab.unrouteAll();
  await tab.locator(".toast").getByRole("button").click();
  held = await holdAnswers(tab, "POST");
  await ask();
  await dialog(tab).getByRole("button", { name: "Cancel" }).click();
  held.release();
  await tab.locator(".toast").getByText("is pushed").waitFor();
  assert.match(tab.url(), /\/three$/);
  assert.deepEqual(faults, []);
  await close();
});

test("a question goes with its page, and so does a form", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/work/tasks/two" });
  await button(tab, "Clean").click();
  await dialog(tab).waitFor();
  await tab.goto(`${server.url}/#/queues/work/tasks/three`);
  await tab.getByRole("heading", { name: "three", level: 1 }).waitFor();
  await dialog(tab).waitFor({ state: "detached" });
  await button(tab, "Edit").click();
  await dialog(tab).waitFor();
  await tab.goto(`${server.url}/#/queues/work/tasks/two`);
  await tab.getByRole("heading", { name: "two", level: 1 }).waitFor();
  await dialog(tab).waitFor({ state: "detached" });
  assert.equal((await server.api("GET", "/v1/queues/work/tasks/two")).id, "two");
  assert.deepEqual(faults, []);
  await close();
});

test("two clicks are one action", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "deliveries/hooks/sent" });
  let posts = 0;
  tab.on("request", (request) => (posts += request.method() === "POST" ? 1 : 0));
  const { sent, release } = await holdAnswers(tab, "POST");
  await button(tab, "Send again").dblclick();
  await sent;
  release();
  await tab.locator(".toast").waitFor();
  await tab.waitForURL(/deliveries\/hooks\/(?!sent)/);
  assert.equal(posts, 1);
  assert.deepEqual(faults, []);
  await close();
});

test("no page goes elsewhere by itself: links and the answers of actions are the only ways", () => {
  const pages = new URL("../app/pages/", import.meta.url);
  for (const name of readdirSync(pages)) {
    const code = readFileSync(new URL(name, pages), "utf8");
    assert.doesNotMatch(code, /import \{[^}]*\bgo\b[^}]*\} from "..\/lib\/router.js"|location\.hash/, name);
  }
});
