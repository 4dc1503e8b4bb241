// Tokens: asked for where the server has some, kept in the tab, and good for what they are good for.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTab, startBrowser, startServer } from "./server.mjs";

const CONFIG = `
[[tokens]]
token = "all-of-it-0123456789"
rights = ["read", "produce", "consume", "admin"]
[[tokens]]
token = "only-read-0123456789"
rights = ["read"]
[[tokens]]
token = "only-mail-0123456789"
rights = ["read", "produce"]
queues = ["mail*"]
[[tokens]]
token = "only-push-0123456789"
rights = ["produce"]
`;

let server, browser, api;
before(async () => {
  server = await startServer({ config: CONFIG });
  browser = await startBrowser();
  api = server.apiWith("all-of-it-0123456789");
  await api("POST", "/v1/queues/mail/tasks", { id: "a", payload: 1 });
  await api("POST", "/v1/queues/secret/tasks", { id: "b", payload: 2 });
});
after(() => Promise.all([server?.stop(), browser?.close()]));

test("a token is asked for, a wrong one refused, the right one kept in this tab only", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues", quiet: true });
  const field = tab.getByLabel("Access token");
  await field.fill("wrong");
  await tab.getByRole("button", { name: "Continue" }).click();
  await tab.getByText("The server does not know this token.").waitFor();
  await field.fill("all-of-it-0123456789");
  await tab.getByRole("button", { name: "Continue" }).click();
  await tab.getByRole("link", { name: "mail", exact: true }).waitFor();
  await tab.locator("[data-connection=live]").waitFor();
  assert.deepEqual(await tab.evaluate(() => [JSON.stringify(localStorage), document.cookie, location.href].filter((text) => text.includes("all-of-it-0123456789"))), []);
  await tab.reload();
  await tab.getByRole("link", { name: "mail", exact: true }).waitFor();
  await tab.getByRole("button", { name: "Forget the token" }).click();
  await field.waitFor();
  assert.equal(await tab.evaluate(() => sessionStorage.getItem("punctual.token")), null);
  assert.deepEqual(faults, []);
  await close();
});

test("a new tab uses the token of one that is open, and forgets it with it", async () => {
  const { tab, close } = await openTab(browser, server, { path: "queues", quiet: true });
  await tab.getByLabel("Access token").fill("all-of-it-0123456789");
  await tab.getByRole("button", { name: "Continue" }).click();
  await tab.getByRole("link", { name: "mail", exact: true }).waitFor();
  const other = await tab.context().newPage();
  await other.goto(`${server.url}/#/queues`);
  await other.getByRole("link", { name: "mail", exact: true }).waitFor();
  assert.equal(await other.evaluate(() => JSON.stringify(localStorage).includes("all-of-it")), false);
  await other.getByRole("button", { name: "Forget the token" }).click();
  await other.getByLabel("Access token").waitFor();
  await tab.getByLabel("Access token").waitFor();
  assert.equal(await tab.evaluate(() => sessionStorage.getItem("punctual.token")), null);
  await close();
});

test("a form that the token cannot save is not shown", async () => {
  await api("POST", "/v1/plans", { plan_id: "kept", station: "mail", plan_type: "hour", plan_value: 1, plan_repet: -1 });
  const { tab, faults, close } = await openTab(browser, server, { path: "new-plan", token: "only-read-0123456789" });
  for (const path of ["new-plan", "plans/kept/edit"]) {
    await tab.goto(`${server.url}/#/${path}`);
    await tab.getByText("This token does not allow changing this plan.").waitFor();
    assert.equal(await tab.getByRole("main").locator("form, input").count(), 0);
  }
  assert.deepEqual(faults, []);
  await close();
});

test("a token that may only read shows everything and offers nothing", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/mail", token: "only-read-0123456789" });
  await tab.getByText("Read only").waitFor();
  await tab.getByRole("heading", { name: "Settings" }).waitFor();
  const offered = () => tab.getByRole("main").getByRole("button").allInnerTexts();
  assert.deepEqual(await offered(), []);
  for (const [path, text] of [["queues", "secret"], ["tasks?queue=mail", "a"], ["queues/mail/tasks/a", "Payload"]]) {
    await tab.goto(`${server.url}/#/${path}`);
    await tab.getByRole("main").getByText(text, { exact: true }).first().waitFor();
    const left = (await offered()).filter((name) => !/waiting|ready|running|done|failed|cancelled|Copy|Previous|Next|Clear/.test(name));
    assert.deepEqual(left, [], path);
  }
  assert.deepEqual(faults, []);
  await close();
});

test("a token for some queues sees those, and acts there", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues", token: "only-mail-0123456789" });
  await tab.getByRole("link", { name: "mail", exact: true }).waitFor();
  assert.equal(await tab.getByRole("link", { name: "secret" }).count(), 0);
  await tab.goto(`${server.url}/#/queues/mail/tasks/a`);
  await tab.getByRole("button", { name: "Pause" }).click();
  await tab.locator("h1 ~ [data-state=paused]").waitFor();
  assert.equal((await api("GET", "/v1/queues/mail/tasks/a")).state, "paused");
  assert.deepEqual(faults, []);
  await close();
});

test("the overview of a token for some queues is of those, and says nothing of the server", async () => {
  const { tab, faults, close } = await openTab(browser, server, { token: "only-mail-0123456789" });
  const main = tab.getByRole("main");
  await main.getByRole("table", { name: "Busiest queues" }).getByRole("link", { name: "mail" }).waitFor();
  await tab.locator("[data-connection=live]").waitFor();
  await api("POST", "/v1/queues/mail-2/tasks", { tasks: [{}, {}, {}] });
  await main.getByRole("link", { name: "mail-2" }).first().waitFor();
  assert.equal(await main.getByText("secret").count(), 0);
  assert.equal(await main.getByRole("region", { name: "Health" }).count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test("what a token does not allow is said once, in place of what it would show", async () => {
  const some = await openTab(browser, server, { path: "bundles", token: "only-mail-0123456789", quiet: true });
  await some.tab.getByRole("heading", { name: "Bundles", level: 1 }).waitFor();
  assert.equal(await some.tab.getByRole("alert").count(), 0);
  await some.tab.goto(`${server.url}/#/new-plan`);
  await some.tab.getByText("this concerns all queues").waitFor();
  assert.deepEqual(some.faults, []);
  await some.close();
  const { tab, faults, close } = await openTab(browser, server, { token: "only-push-0123456789", quiet: true });
  await tab.getByText("This token does not allow reading").waitFor();
  assert.equal(await tab.getByRole("alert").count(), 0);
  assert.deepEqual(faults, []);
  await close();
});

test("another site's page can change nothing", async () => {
  const answer = await fetch(`${server.address}/v1/queues/mail/pause`, { method: "POST", headers: { origin: "http://evil.example", authorization: "Bearer all-of-it-0123456789" } });
  assert.equal(answer.status, 403);
  assert.equal((await api("GET", "/v1/queues/mail")).paused, false);
});
