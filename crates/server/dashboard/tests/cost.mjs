// What an open dashboard costs the server: its processor time per second, with tasks coming and going, without and
// with a page that looks at them. Not a test; `npm run cost` prints a table. Name a release build in PUNCTUAL_BINARY.

import { readFileSync } from "node:fs";
import { openTab, startBrowser, startServer } from "./server.mjs";

const SECONDS = 20;
const PER_SECOND = 200;
const TICKS = 100;

const server = await startServer();
const browser = await startBrowser();
await server.api("PUT", "/v1/queues/busy", {});
for (let at = 0; at < 10; at += 1) await server.api("POST", "/v1/queues/busy/tasks", { tasks: Array.from({ length: 10_000 }, () => ({ payload: { a: 1 } })) });

/** Processor time of the server so far, in milliseconds. */
const spent = () => {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / TICKS) * 1000;
};

/** Pushes, takes and commits at an even pace. */
async function traffic() {
  const end = Date.now() + SECONDS * 1000;
  for (let next = Date.now(); next < end; next += 100) {
    const n = PER_SECOND / 10;
    await server.api("POST", "/v1/queues/busy/tasks", { tasks: Array.from({ length: n }, () => ({})) });
    const { tasks } = await server.api("POST", "/v1/queues/busy/take", { n });
    await server.api("POST", "/v1/queues/busy/commit", { tasks: tasks.map(({ id, token }) => ({ id, token })) });
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, next + 100 - Date.now())));
  }
}

for (const path of [null, "", "queues", "tasks?queue=busy"]) {
  const opened = path === null ? null : await openTab(browser, server, { path, quiet: true });
  let requests = 0;
  opened?.tab.on("request", () => (requests += 1));
  const [before, start] = [spent(), Date.now()];
  await traffic();
  const seconds = (Date.now() - start) / 1000;
  console.log(`${path === null ? "nobody looks" : `#/${path}`}: ${((spent() - before) / seconds).toFixed(1)} ms of processor time and ${(requests / seconds).toFixed(1)} requests of the page per second`);
  await opened?.close();
}
await browser.close();
await server.stop();
