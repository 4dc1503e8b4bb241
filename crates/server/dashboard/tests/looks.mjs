// How a page looks: in both languages, light and dark, wide and narrow. Whatever it logs as an error fails, and so
// does a page that is wider than the screen, lacks a label, or has too little contrast.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openTab, picture } from "./server.mjs";

const LOOKS = [
  { language: "en" }, { language: "en", dark: true }, { language: "zh" },
  { language: "en", width: 390, height: 844 }, { language: "zh", dark: true, width: 390, height: 844 },
];

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** Takes pictures of a page once `ready` is on it, a selector or a function of the tab. */
export async function looks(browser, server, name, path, ready) {
  for (const look of LOOKS) {
    const { tab, faults, close } = await openTab(browser, server, { path, ...look });
    await (typeof ready === "string" ? tab.locator(ready).first().waitFor() : ready(tab));
    await tab.evaluate(() => document.fonts.ready);
    const said = `${name}-${look.language}-${look.dark ? "dark" : "light"}${look.width ? "-narrow" : ""}`;
    await picture(tab, said, { fullPage: true });
    const excess = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(excess <= 0, `${said} is ${excess} px too wide`);
    await tab.evaluate(axe);
    const { violations } = await tab.evaluate(() => window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] }));
    assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`), [], said);
    assert.deepEqual(faults, [], said);
    await close();
  }
}
