// Workers against a real server: every way a task can end.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { Fail, Punctual, Release } from "../dist/esm/index.js";
import { Server } from "../dist/esm/testing.js";
import { KEEP, until } from "./until.mjs";

/** @type {Server} */
let server;
/** @type {import("../dist/esm/index.js").Client} */
let client;
/** @type {Punctual[]} */
let apps;
beforeEach(async () => {
  server = await Server.start();
  client = server.client;
  apps = [];
});
afterEach(async () => {
  for (const app of apps) app.stop({ hurry: true });
  await Promise.allSettled(apps.map((app) => app.join()));
  await server.close();
});

/** @param {import("../dist/esm/index.js").AppOptions} [options] */
function appOf(options) {
  const app = new Punctual({ url: server.url, grace: 5, warn: () => {}, ...options });
  apps.push(app);
  return app;
}

const sleep = (/** @type {number} */ seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const stopped = (/** @type {AbortSignal} */ signal) =>
  new Promise((resolve) => (signal.aborted ? resolve(1) : signal.addEventListener("abort", resolve)));

test("results come back, and commits gather", async () => {
  await client.putQueue("q", { keep: KEEP });
  await client.pushMany("q", Array.from({ length: 300 }, (_, n) => ({ id: `t${n}`, payload: n })));
  let requests = 0;
  const app = appOf({ fetch: (url, init) => (requests++, fetch(url, init)) });
  app.task("q", (task) => ({ twice: task.payload * 2 })).start();
  await until(async () => (await client.getQueue("q")).counts.done === 300);
  assert.deepEqual(/** @type {any} */ (await client.getTask("q", "t7")).result, { twice: 14 });
  assert.ok(requests < 100, `${requests} requests for 300 tasks`);
});

test("failures are retried or not", async () => {
  await client.putQueue("q", { keep: KEEP, max_attempts: 3, retry: { intervals: [0.01] } });
  let given = 0;
  appOf()
    .task("q", (task) => {
      if (task.payload === "again" && task.attempt < 3) {
        task.saveCheckpoint(task.attempt);
        throw new TypeError("not yet");
      }
      if (task.payload === "never") throw new Fail("no such address", { permanent: true });
      if (task.payload === "later") throw new Fail("busy", { retryIn: "1h" });
      if (task.payload === "given-back" && !given++) throw new Release();
      if (task.payload === "no-json") return 1n;
      if (task.payload === "too-large") return "x".repeat(1 << 20);
      return [task.attempt, task.checkpoint];
    })
    .start();
  for (const name of ["again", "never", "later", "given-back", "no-json", "too-large"]) await client.push("q", name, { id: name });
  assert.deepEqual((await client.waitFor("q", "again")).result, [3, 2]);
  const never = await client.waitFor("q", "never");
  assert.deepEqual([never.error, never.attempt], ["no such address", 1]);
  assert.deepEqual((await client.waitFor("q", "given-back")).result, [1, null]);
  assert.match(String((await client.waitFor("q", "no-json")).error), /no JSON/);
  assert.match(String((await client.waitFor("q", "too-large")).error), /the result was refused/);
  assert.equal((await client.getTask("q", "later")).state, "waiting");
});

test("cancel and pause reach the handler", async () => {
  await client.putQueue("q", { keep: KEEP, hold: "1s" });
  /** @type {any[]} */
  const reasons = [];
  let begun = 0;
  appOf()
    .task("q", async (task) => {
      if (task.checkpoint) return `went on from ${task.checkpoint}`;
      begun++;
      task.progress(0.5, "half way");
      await stopped(task.signal);
      reasons.push(task.stopReason);
      task.saveCheckpoint("page 7");
      task.check();
    })
    .start();
  await client.push("q", 1, { id: "cancelled" });
  await until(async () => /** @type {any} */ (await client.getTask("q", "cancelled")).progress === 0.5);
  await client.cancelTask("q", "cancelled");
  assert.equal((await client.waitFor("q", "cancelled")).state, "cancelled");
  await client.push("q", 1, { id: "paused" });
  await until(() => begun === 2);
  await client.pauseTask("q", "paused");
  await until(async () => (await client.getTask("q", "paused")).state === "paused");
  await client.resumeTask("q", "paused");
  assert.equal((await client.waitFor("q", "paused")).result, "went on from page 7");
  assert.deepEqual(reasons, ["cancelled", "paused"]);
});

test("a hold outlives its length, and a lost one is told", async () => {
  await client.putQueue("q", { keep: KEEP, hold: "0.5s" });
  /** @type {any[]} */
  const told = [];
  appOf()
    .task("q", async (task) => {
      if (task.payload === "lose" && task.attempt === 1) {
        await stopped(task.signal);
        told.push(task.stopReason);
        return "nobody hears this";
      }
      await sleep(1.5);
      return "kept";
    })
    .start();
  await client.push("q", "keep", { id: "kept" });
  const kept = await client.waitFor("q", "kept");
  assert.deepEqual([kept.result, kept.attempt], ["kept", 1]);
  await client.push("q", "lose", { id: "lost" });
  await until(async () => (await client.getTask("q", "lost")).state === "running");
  await client.retryTask("q", "lost", { force: true });
  const lost = await client.waitFor("q", "lost");
  assert.deepEqual([lost.result, lost.attempt, told], ["kept", 2, ["lost"]]);
});

test("dispatch and votes", async () => {
  await client.putQueue("render", { mode: "dispatch", keep: KEEP });
  await client.putQueue("quorum", { mode: "vote", keep: KEEP });
  for (const name of ["ada", "bob"]) {
    const vote = () => {
      if (name === "bob") throw new Fail("away");
      return "yes";
    };
    appOf({ name, capabilities: [name] }).task("render", () => name).task("quorum", vote).start();
  }
  await until(async () => (await client.listWorkers()).items.length === 2);
  await client.push("render", 1, { id: "scene", requires: ["bob"] });
  assert.equal((await client.waitFor("render", "scene")).result, "bob");
  await client.push("quorum", 1, { id: "merge" });
  assert.deepEqual((await client.waitFor("quorum", "merge")).result, { ada: "yes", bob: null });
  for (const app of apps) app.stop();
  await Promise.all(apps.map((app) => app.join()));
  assert.deepEqual((await client.listWorkers()).items, []);
});

test("a stop lets handlers finish and gives back the rest", async () => {
  await client.putQueue("q", { keep: KEEP, hold: "1h" });
  await client.pushMany("q", Array.from({ length: 6 }, (_, n) => ({ id: `t${n}`, payload: n })));
  let goOn = () => {};
  const gate = new Promise((resolve) => (goOn = () => resolve(1)));
  const handler = async (/** @type {import("../dist/esm/index.js").Task} */ task) => {
    await gate;
    if (task.payload === 0) return "finished";
    task.saveCheckpoint("so far");
    await stopped(task.signal);
    task.check();
  };
  const app = appOf({ grace: 0.5 });
  app.task("q", handler, { concurrency: 2, prefetch: 2 }).start();
  await until(async () => (await client.getQueue("q")).counts.running === 4);
  goOn();
  await until(async () => (await client.getQueue("q")).counts.done === 1);
  const began = Date.now();
  app.stop();
  await app.join();
  assert.ok(Date.now() - began < 5_000, "an open take keeps no stop waiting");
  const { done, ready, running } = (await client.getQueue("q")).counts;
  assert.deepEqual([done, ready, running], [1, 5, 0]);
});

test("work goes on over a kill", async () => {
  await server.close();
  server = await Server.start({ dev: false, durable: true });
  client = server.client;
  await client.putQueue("q", { keep: KEEP, hold: "20s" });
  /** @type {string[]} */
  const counted = [];
  let goOn = () => {};
  const gate = new Promise((resolve) => (goOn = () => resolve(1)));
  const handler = async (/** @type {import("../dist/esm/index.js").Task} */ task) => {
    counted.push(task.id);
    await gate;
    return "over the crash";
  };
  appOf().task("q", handler, { concurrency: 4 }).start();
  await client.pushMany("q", Array.from({ length: 8 }, (_, n) => ({ id: `t${n}` })));
  await until(() => counted.length === 4);
  await server.kill();
  goOn();
  await server.restart();
  await until(async () => (await client.getQueue("q")).counts.done === 8);
  assert.deepEqual(counted.sort(), Array.from({ length: 8 }, (_, n) => `t${n}`), "each was carried out once");
});

test("a worker that the server refuses ends", async () => {
  const app = appOf({ name: "no name" });
  app.task("q", () => null).start();
  await assert.rejects(app.join(), /worker/);
});

test("a server without logs is asked once, one with logs gets the lines together", async () => {
  await client.putQueue("q", { keep: KEEP });
  for (const status of [404, 200]) {
    /** @type {string[][]} */
    const sent = [];
    /** @type {any} */
    const fetching = async (/** @type {string} */ url, /** @type {any} */ init) => {
      if (!String(url).endsWith("/log")) return fetch(url, init);
      sent.push(JSON.parse(init.body).lines);
      return new Response(status === 404 ? '{"code":"not_found","detail":""}' : "{}", { status });
    };
    const app = appOf({ fetch: fetching });
    app.task("q", (task) => (task.log("one"), task.log("two"))).start();
    for (const id of [`a${status}`, `b${status}`]) {
      await client.push("q", 1, { id });
      await client.waitFor("q", id);
      await until(() => sent.length);
    }
    app.stop();
    await app.join();
    assert.deepEqual(sent, status === 404 ? [["one", "two"]] : [["one", "two"], ["one", "two"]]);
  }
});
