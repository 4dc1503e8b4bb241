// What is around every page: navigation, languages, light and dark, keyboard, connection, tokens.

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

test("every entry of the navigation leads to a page, in both languages, from this server alone", async () => {
  for (const language of ["en", "zh"]) {
    const { tab, faults, close } = await openTab(browser, server, { language });
    const foreign = [];
    tab.on("request", (request) => request.url().startsWith(server.url) || foreign.push(request.url()));
    await tab.reload();
    const entries = tab.getByRole("navigation", { name: language === "en" ? "Pages" : "页面", exact: true }).getByRole("link");
    await entries.first().waitFor();
    for (const entry of await entries.all()) {
      const name = await entry.innerText();
      await entry.click();
      await tab.getByRole("heading", { level: 1, name, exact: true }).waitFor();
      await until(async () => (await tab.title()) === `${name} · Punctual`, "the title");
      assert.equal(await entry.getAttribute("aria-current"), "page");
      assert.equal(await tab.locator("main").getByText(/[a-z]+\.[a-z-]+\.?[a-z-]*$/).filter({ hasText: /^(shell|overview|queues|tasks|failed|state)\./ }).count(), 0);
    }
    assert.equal(await tab.evaluate(() => document.documentElement.lang), language === "en" ? "en" : "zh-Hans");
    assert.deepEqual([faults, foreign], [[], []]);
    await close();
  }
});

test("language and light are switched, and remembered", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues" });
  await tab.getByRole("heading", { name: "Queues" }).waitFor();
  await tab.getByRole("button", { name: "中文" }).click();
  await tab.getByRole("heading", { name: "队列" }).waitFor();
  const background = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await tab.getByRole("button", { name: "浅色或深色" }).click();
  assert.notEqual(await background(), light);
  await tab.reload();
  await tab.getByRole("heading", { name: "队列" }).waitFor();
  assert.notEqual(await background(), light);
  await tab.getByRole("button", { name: "English" }).click();
  await tab.getByRole("heading", { name: "Queues" }).waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("times are in the viewer's zone, with UTC on hover", async () => {
  const { tab, close } = await openTab(browser, server, { path: "queues/mail" });
  const { created_at } = await server.api("GET", "/v1/queues/mail");
  const time = tab.locator(`time[datetime="${created_at}"]`);
  await time.waitFor();
  const local = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Berlin", hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(new Date(created_at));
  // If midnight has passed since, the date is before it.
  assert.ok((await time.innerText()).includes(local), await time.innerText());
  assert.ok((await time.getAttribute("title")).includes(created_at));
  await close();
});

test("the palette finds pages, queues, plans, flows, workers and tasks", async () => {
  await server.api("POST", "/v1/flows", { id: "order-7", steps: [{ name: "one", queue: "orders" }] });
  await server.api("PUT", "/v1/workers/gpu-1", { queues: ["render"] });
  const { tab, faults, close } = await openTab(browser, server, { path: "queues" });
  await tab.getByRole("heading", { name: "Queues" }).waitFor();
  await tab.keyboard.press("Control+k");
  const input = tab.getByRole("dialog").getByRole("combobox");
  await input.fill("thumb");
  await tab.getByRole("option", { name: /thumbnails/ }).waitFor();
  await input.press("Enter");
  await tab.getByRole("heading", { name: "thumbnails", level: 1 }).waitFor();
  await tab.keyboard.press("Control+k");
  await input.fill("mail/welcome-1");
  await input.press("Enter");
  await tab.getByRole("heading", { name: "welcome-1" }).waitFor();
  for (const [text, found, heading] of [["sweep exp", /sweep/, "sweep"], ["order-7", /order-7/, "order-7"], ["gpu", /gpu-1/, "gpu-1"], ["new pl", /New plan/, "New plan"]]) {
    await tab.keyboard.press("Control+k");
    await input.fill(text);
    await tab.getByRole("option", { name: found }).waitFor();
    await input.press("Enter");
    await tab.getByRole("heading", { name: heading, level: 1, exact: true }).waitFor();
    await input.waitFor({ state: "detached" });
  }
  await tab.keyboard.press("Control+k");
  await input.fill("queu");
  await input.press("ArrowDown");
  await input.press("ArrowUp");
  await tab.keyboard.press("Escape");
  await input.waitFor({ state: "detached" });
  assert.deepEqual(faults, []);
  await close();
});

test("shortcuts lead to pages and are listed", async () => {
  const { tab, faults, close } = await openTab(browser, server, { path: "queues", quiet: true });
  await tab.getByRole("heading", { name: "Queues" }).waitFor();
  await tab.keyboard.press("g");
  await tab.keyboard.press("t");
  await tab.getByRole("heading", { name: "Tasks" }).waitFor();
  await tab.locator("tbody tr").first().waitFor();
  await tab.keyboard.press("/");
  assert.equal(await tab.evaluate(() => document.activeElement?.tagName), "INPUT");
  await tab.keyboard.type("g q");
  await tab.keyboard.press("Tab");
  await tab.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  await tab.keyboard.press("?");
  await tab.getByRole("dialog").getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
  await tab.keyboard.press("Escape");
  await tab.getByRole("dialog").waitFor({ state: "detached" });
  await tab.keyboard.press("g");
  await tab.keyboard.press("o");
  await tab.getByRole("heading", { name: "Overview" }).waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("the first Tab leads to the content, and the focus is always somewhere to be seen", async () => {
  const { tab, close } = await openTab(browser, server, { path: "queues" });
  await tab.getByRole("link", { name: "mail", exact: true }).waitFor();
  await tab.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  await tab.keyboard.press("Tab");
  assert.equal(await tab.evaluate(() => document.activeElement?.className), "skip");
  for (let step = 0; step < 25; step += 1) {
    await tab.keyboard.press("Tab");
    const seen = await tab.evaluate(() => {
      const box = document.activeElement?.getBoundingClientRect();
      return !!box && box.width > 0 && getComputedStyle(/** @type {Element} */ (document.activeElement)).outlineStyle !== "none";
    });
    assert.ok(seen, `step ${step}: ${await tab.evaluate(() => document.activeElement?.outerHTML.slice(0, 200))}`);
  }
  await close();
});

test("a hidden tab listens to nothing and catches up when it is seen", async () => {
  await server.api("PUT", "/v1/queues/hidden", {});
  const { tab, faults, close } = await openTab(browser, server, { path: "queues/hidden" });
  await tab.locator("[data-connection=live]").waitFor();
  const hide = (hidden) => tab.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await hide(true);
  await tab.locator("[data-connection=hidden]").waitFor();
  const asked = [];
  tab.on("request", (request) => asked.push(request.url()));
  await server.api("POST", "/v1/queues/hidden/tasks", { tasks: [{}, {}, {}, {}] });
  await tab.waitForTimeout(1500);
  assert.deepEqual(asked, []);
  await hide(false);
  await tab.getByRole("link", { name: /^ready/i }).getByText("4").waitFor();
  await tab.locator("[data-connection=live]").waitFor();
  assert.deepEqual(faults, []);
  await close();
});

test("a lost connection is said, and made up for", async () => {
  const first = await startServer();
  await first.api("POST", "/v1/queues/lost/tasks", {});
  const { tab, close } = await openTab(browser, first, { path: "queues/lost", quiet: true });
  const ready = tab.getByRole("link", { name: /^ready/i });
  await ready.getByText("1").waitFor();
  await tab.locator("[data-connection=live]").waitFor();
  await first.kill();
  await tab.locator("[data-connection=lost]").getByText("Connection lost").waitFor();
  await ready.getByText("1").waitFor();
  const second = await startServer({ port: Number(new URL(first.address).port) });
  await second.api("POST", "/v1/queues/lost/tasks", { tasks: [{}, {}] });
  await tab.locator("[data-connection=caught-up], [data-connection=live]").waitFor();
  await ready.getByText("2").waitFor();
  await close();
  await second.stop();
  await first.stop();
});
