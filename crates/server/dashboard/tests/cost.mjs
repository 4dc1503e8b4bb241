// What an open dashboard costs the server: its processor time and the requests of the page, without tasks and with
// tasks coming and going. Not a test; `npm run cost` prints a table. Name a release build in PUNCTUAL_BINARY.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { openTab, startBrowser, startServer } from "./server.mjs";

const SECONDS = 20;
const BATCHES_PER_SECOND = 10;
const TICKS = 100;

const store = mkdtempSync(join(tmpdir(), "punctual-cost-"));
const server = await startServer({ store });
const browser = await startBrowser();
const push = (n, task = {}) => server.api("POST", "/v1/queues/busy/tasks", { tasks: Array(n).fill(task) });
for (let at = 0; at < 10; at += 1) await push(10_000, { payload: { a: 1 } });

/** Processor time of the server so far, in milliseconds. */
const spent = () => {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / TICKS) * 1000;
};

/** Pushes, takes and commits so many tasks per second at an even pace; of none it only waits. */
async function traffic(perSecond) {
  const [n, apart, end] = [perSecond / BATCHES_PER_SECOND, 1000 / BATCHES_PER_SECOND, Date.now() + SECONDS * 1000];
  for (let next = Date.now(); next < end; next += apart) {
    if (n > 0) {
      await push(n);
      const { tasks } = await server.api("POST", "/v1/queues/busy/take", { n });
      const done = tasks.map(({ id, token }) => ({ id, token }));
      await server.api("POST", "/v1/queues/busy/commit", { tasks: done });
    }
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next + apart - Date.now())));
  }
}

for (const perSecond of [0, 1000]) {
  for (const path of [null, "", "queues", "tasks?queue=busy"]) {
    const opened = path === null ? null : await openTab(browser, server, { path, quiet: true });
    await opened?.tab.locator("[data-connection=live]").waitFor();
    await opened?.tab.waitForLoadState("load");
    // What the first view costs is another question.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    let requests = 0;
    opened?.tab.on("request", () => (requests += 1));
    const [before, start] = [spent(), Date.now()];
    await traffic(perSecond);
    const seconds = (Date.now() - start) / 1000;
    const name = path === null ? "nobody looks" : `#/${path}`;
    const cost = `${((spent() - before) / seconds).toFixed(1)} ms of processor time per second`;
    const asked = `${((requests / seconds) * 60).toFixed(0)} requests of the page per minute`;
    console.log(`${perSecond} tasks/s, ${name}: ${cost}, ${asked} (load ${loadavg()[0].toFixed(1)})`);
    await opened?.close();
  }
}
await browser.close();
await server.stop();
rmSync(store, { recursive: true });
