// A picture of every page, light and dark, in both languages and on a phone; and what each must be for everybody:
// labelled, with enough contrast, no wider than the screen.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { openTab, picture, startBrowser, startServer } from "./server.mjs";
import { seed, seedHour } from "./seed.mjs";

/** Every page: its name, its address, and a selector for what is there when it is ready. */
const PAGES = [
  ["overview", () => "", ".u-legend, .chart"],
  ["queues", () => "queues", "tbody tr"],
  ["queue", () => "queues/mail", ".facts"],
  ["tasks", () => "tasks?queue=mail", "tbody tr"],
  ["task-failed", async (api) => `queues/mail/tasks/${(await api("GET", "/v1/queues/mail/tasks?state=failed")).items[0].id}`, ".timeline"],
  ["task-running", async (api) => `queues/mail/tasks/${(await api("GET", "/v1/queues/mail/tasks?state=running")).items[0].id}`, ".timeline"],
  ["failed", () => "failed", "tbody tr"],
];

const LOOKS = { light: {}, dark: { dark: true }, zh: { language: "zh" }, phone: { width: 375, height: 1600 } };
const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

let server, browser;
before(async () => {
  server = await startServer({ args: ["--dev"] });
  browser = await startBrowser();
  await seedHour(server.api);
  await seed(server.api);
});
after(() => Promise.all([server?.stop(), browser?.close()]));

for (const [name, path, ready] of PAGES) {
  for (const [look, options] of Object.entries(LOOKS)) {
    test(`${name}, ${look}`, async () => {
      const { tab, faults, close } = await openTab(browser, server, { ...options, path: await path(server.api) });
      await tab.locator("main").locator(ready).first().waitFor();
      await tab.locator("[data-connection=live]").waitFor();
      await picture(tab, `${name}-${look}`);
      const excess = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(excess <= 0, `${excess} px too wide`);
      await tab.evaluate(axe);
      const { violations } = await tab.evaluate(() => window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }));
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`), []);
      assert.deepEqual(faults, []);
      await close();
    });
  }
}
