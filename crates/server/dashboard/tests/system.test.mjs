// The system: what it says is what the API says, secrets stay hidden, and only who may sees settings.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { looks } from "./looks.mjs";
import { openTab, startBrowser, startServer, until } from "./server.mjs";

const SECRET = "a-token-for-all-rights";
const config = `secret_headers = ["x-team-secret"]
[[tokens]]
token = "${SECRET}"
rights = ["read", "produce", "consume", "admin"]
[[tokens]]
token = "a-token-that-reads"
rights = ["read"]
[[tokens]]
token = "a-token-for-few-queues"
rights = ["read"]
queues = ["mail-*", "hooks"]
`;
let server, browser, api;
before(async () => {
  [server, browser] = await Promise.all([startServer({ config }), startBrowser()]);
  api = server.apiWith(SECRET);
  await api("PUT", "/v1/queues/mail-in", {});
});
after(() => Promise.all([server?.stop(), browser?.close()]));

test("server, store, nodes, settings and tokens", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "system", token: SECRET });
  const system = await api("GET", "/v1/system");
  await tab.getByRole("region", { name: "Store" }).getByText(system.store.durability).waitFor();
  await tab.getByRole("table", { name: "Nodes" }).getByText(system.nodes[0].id).waitFor();
  await tab.getByRole("table", { name: "Nodes" }).getByText("this one").waitFor();
  const settings = tab.getByRole("table", { name: "Configuration" });
  for (const { name } of (await api("GET", "/v1/system/config")).items) await settings.getByText(name, { exact: true }).waitFor();
  await settings.getByRole("row").filter({ hasText: "secret_headers" }).getByText("x-team-secret").waitFor();
  const tokens = tab.getByRole("table", { name: "Tokens" });
  for (const { hash } of (await api("GET", "/v1/system/tokens")).items) await tokens.getByText(hash).waitFor();
  await tokens.getByText("mail-*").waitFor();
  assert.ok(!(await tab.content()).includes(SECRET));
  assert.deepEqual(faults, []);
  await close();
});

test("what is done is noted, and seen at once", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "system", token: SECRET });
  await tab.locator("[data-connection=live]").waitFor();
  const audit = tab.getByRole("table", { name: "Audit" });
  await audit.getByText("queue.put").first().waitFor();
  await api("POST", "/v1/queues/mail-in/pause");
  await audit.getByRole("row").filter({ hasText: "queue.pause" }).getByText("mail-in").waitFor();
  const { items } = await api("GET", "/v1/system/audit");
  assert.equal(await audit.getByRole("row").count(), items.length + 1);
  assert.deepEqual(faults, []);
  await close();
});

test("who may not administer sees no settings; who sees only some queues has no such page", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "system", token: "a-token-that-reads", language: "zh" });
  await tab.getByRole("table", { name: "节点" }).waitFor();
  assert.equal(await tab.getByRole("table").count(), 1);
  assert.deepEqual(faults, []);
  await close();
  const limited = await openTab(browser, server, { path: "queues", token: "a-token-for-few-queues" });
  await limited.tab.getByRole("link", { name: "mail-in" }).waitFor();
  assert.equal(await limited.tab.getByRole("link", { name: "System" }).count(), 0);
  assert.deepEqual(limited.faults, []);
  await limited.close();
});

test("pictures", async () => {
  const open = await startServer();
  await open.api("PUT", "/v1/queues/mail", {});
  await until(async () => (await open.api("GET", "/v1/system")).nodes.length === 1, "a node");
  await looks(browser, open, "system", "system", "table[aria-label] tbody tr");
  await open.stop();
});
