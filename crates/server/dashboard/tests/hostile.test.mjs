// Texts that users wrote are text: nothing in them runs, and none breaks the page.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTab, picture, startBrowser, startServer } from "./server.mjs";

const SCRIPT = "<script>window.hacked=1</script><img src=x onerror=\"window.hacked=1\"><a href=\"javascript:window.hacked=1\">x</a>";
const RTL = "שלום \u202Eevil\u202C مرحبا";
const EMOJI = "👩‍👩‍👧‍👦🏳️‍🌈é̸̢̧̨";
const HUGE = "W".repeat(300_000);

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  await server.api("PUT", "/v1/queues/hostile", { tag: SCRIPT.slice(0, 100), keep: { done: "1h" }, max_attempts: 1 });
  const deep = Array.from({ length: 60 }).reduce((inner) => ({ inner }), "bottom");
  await server.api("POST", "/v1/queues/hostile/tasks", { id: "hostile", tags: [SCRIPT.slice(0, 120), RTL, EMOJI], payload: { [SCRIPT]: SCRIPT, [RTL]: RTL, [EMOJI]: EMOJI, huge: HUGE, deep, __proto__: null, many: Array.from({ length: 5000 }, (_, n) => n), "": "" } });
  const { tasks: [task] } = await server.api("POST", "/v1/queues/hostile/take", { worker: "w", hold: "10m" });
  await server.api("POST", "/v1/queues/hostile/tasks/hostile/extend", { token: task.token, progress: 0.5, message: SCRIPT + RTL + "W".repeat(2000) });
  await server.api("POST", "/v1/queues/hostile/tasks/hostile/fail", { token: task.token, error: SCRIPT + RTL + EMOJI + "W".repeat(3000), permanent: true });
});
after(() => Promise.all([server?.stop(), browser?.close()]));

for (const [path, text] of [["queues", "<script>"], ["queues/hostile", "<script>"], ["tasks?queue=hostile", "<script>"], ["queues/hostile/tasks/hostile", "window.hacked"], ["failed", "<script>"], [`tasks?queue=hostile&q=${encodeURIComponent(SCRIPT)}`, "<script>"]]) {
  test(`nothing runs on ${path.slice(0, 40)}`, async () => {
    for (const width of [1280, 375]) {
      const { tab, faults, close } = await openTab(browser, server, { path, width });
      await tab.getByRole("main").getByText(text).first().waitFor();
      assert.equal(await tab.evaluate(() => window.hacked), undefined);
      assert.equal(await tab.locator("main script, main img, main a[href^=javascript]").count(), 0);
      const excess = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(excess <= 0, `the page is ${excess} px too wide at ${width} px`);
      if (width === 1280) await picture(tab, `hostile-${path.replace(/\W+/g, "-").slice(0, 30)}`);
      assert.deepEqual(faults, []);
      await close();
    }
  });
}

test("a huge string is shown in part until asked, and a long list too", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/hostile/tasks/hostile" });
  const tree = tab.getByRole("group", { name: "Payload" });
  await tree.getByText("show all 300,000 characters").click();
  await tree.getByText(HUGE.slice(0, 200)).first().waitFor();
  await tree.getByRole("button", { name: /many/ }).click();
  await tree.getByRole("button", { name: "4,900 more" }).click();
  await tree.getByText("199").first().waitFor();
  for (let depth = 0; depth < 5; depth += 1) await tree.getByRole("button", { name: /inner/, expanded: false }).first().click();
  assert.deepEqual(faults, []);
  await close();
});

test("an address nobody made leads nowhere, not astray", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "%E0%A4%A/<script>", quiet: true });
  await tab.getByText("There is no such page.").waitFor();
  await tab.goto(`${server.url}/#/queues/${encodeURIComponent("../../x<script>")}`);
  await tab.getByRole("alert").waitFor();
  assert.deepEqual(faults, []);
  await close();
});
