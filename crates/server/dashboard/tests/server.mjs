// A real server for a test: the binary on a free port with a store in memory, and the browser that looks at it.
//
// `PUNCTUAL_BINARY` names the binary (`cargo xtask test` does). With `DASHBOARD_FROM_DISK=1` the pages are read
// from disk instead of from the binary, so that a change can be checked without a build. `DASHBOARD_STORE` names
// another store, such as `redis://…`; each server then has a prefix of its own there.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { serve } from "../dev.mjs";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const binary = process.env.PUNCTUAL_BINARY ?? join(root, "target/debug/punctual");
export const screenshots = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "screenshots");

/** How long something may take. Nothing waits longer than it must, so this only has to be enough for a busy machine. */
const PATIENCE_MS = 90_000;

/** Starts a server; `config` is TOML. */
export async function startServer({ config = "", args = [], port = 0, store = process.env.DASHBOARD_STORE ?? "memory:" } = {}) {
  const directory = mkdtempSync(join(tmpdir(), "punctual-dashboard-"));
  const file = join(directory, "punctual.toml");
  writeFileSync(file, config);
  const child = spawn(binary, ["serve", "--config", file, "--listen", `127.0.0.1:${port}`, "--store", store, ...(store.startsWith("redis") ? ["--prefix", basename(directory)] : []), "--allow-private-targets", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  const address = await new Promise((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      said += chunk;
      const found = said.match(/(https?:\/\/)?127\.0\.0\.1:(\d+)/);
      if (found) resolve(`http://127.0.0.1:${found[2]}`);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  const front = process.env.DASHBOARD_FROM_DISK ? await serve(address) : null;
  const api = (token) => async (method, path, body) => {
    const response = await fetch(address + path, { method, headers: token ? { authorization: `Bearer ${token}` } : {}, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  };
  return {
    address,
    pid: child.pid,
    url: front?.url ?? address,
    api: api(),
    apiWith: api,
    stop: () => new Promise((resolve) => {
      front?.server.closeAllConnections();
      front?.server.close();
      rmSync(directory, { recursive: true });
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.removeAllListeners("exit");
      child.on("exit", resolve);
      child.kill("SIGTERM");
    }),
    kill: () => new Promise((resolve) => {
      child.removeAllListeners("exit");
      child.on("exit", resolve);
      child.kill("SIGKILL");
    }),
  };
}

/** Debian's browser, without anything that talks to somebody else. */
export function startBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** A tab on a page of the dashboard. Whatever a page logs as an error fails the test. */
export async function openTab(browser, server, { path = "", language = "en", dark = false, width = 1280, height = 800, token, quiet = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, locale: language === "zh" ? "zh-CN" : "en-GB", timezoneId: "Europe/Berlin", colorScheme: dark ? "dark" : "light" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.url });
  const tab = await context.newPage();
  tab.setDefaultTimeout(PATIENCE_MS);
  const faults = [];
  tab.on("pageerror", (error) => faults.push(String(error)));
  tab.on("console", (message) => {
    if (message.type() === "error" && !(quiet && /Failed to load resource/.test(message.text()))) faults.push(message.text());
  });
  if (token) await tab.addInitScript((value) => sessionStorage.setItem("punctual.token", value), token);
  await tab.goto(`${server.url}/#/${path}`);
  return { tab, faults, close: () => context.close() };
}

/** Holds back the answers to what a tab sends with a method: `sent` comes true when the server has answered one, `release` lets them through. */
export async function holdAnswers(tab, method) {
  let [came, release] = [() => {}, () => {}];
  const sent = new Promise((resolve) => (came = resolve));
  const released = new Promise((resolve) => (release = resolve));
  await tab.route("**/v1/**", async (route) => {
    if (route.request().method() !== method) return route.fallback();
    const response = await route.fetch();
    came();
    await released;
    await route.fulfill({ response });
  });
  return { sent, release };
}

/** Waits until a condition holds. */
export async function until(condition, what = "a condition") {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await condition().catch((error) => (Date.now() > end ? Promise.reject(error) : false));
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what} did not come true`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Takes a picture of a page. */
export async function picture(tab, name, options = {}) {
  mkdirSync(screenshots, { recursive: true });
  await tab.screenshot({ path: join(screenshots, `${name}.png`), ...options });
}
