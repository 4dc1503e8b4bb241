// The client against a real server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ApiError, Client, NoAnswer, PunctualError, Unreachable } from "../dist/esm/index.js";
import { Server } from "../dist/esm/testing.js";
import { KEEP, until } from "./until.mjs";

/** @type {Server} */
let server;
/** @type {Client} */
let client;
before(async () => {
  server = await Server.start({ args: ["--allow-private-targets"] });
  client = server.client;
});
after(() => server.close());

/** A client that counts its requests and can lose answers. */
function counted() {
  const seen = { requests: 0, answersToLose: 0 };
  const fetching = async (/** @type {any} */ url, /** @type {any} */ init) => {
    seen.requests++;
    const answer = await fetch(url, init);
    if (seen.answersToLose > 0) {
      seen.answersToLose--;
      await answer.arrayBuffer();
      throw new TypeError("fetch failed", { cause: { code: "ECONNRESET" } });
    }
    return answer;
  };
  return { seen, client: new Client({ url: server.url, fetch: fetching }) };
}

test("every resource is read and written", async () => {
  assert.equal((await client.putQueue("mail", { hold: "10s", tag: "letters" })).hold, 10);
  assert.equal((await client.putQueue("mail", { tag: null })).tag, null);
  await client.pushTask("mail", { id: "m1", payload: { to: "ada" }, priority: 3 });
  assert.equal(/** @type {any} */ (await client.getTask("mail", "m1")).priority, 3);
  assert.equal((await client.why("mail", "m1")).reason, "no_taker");
  assert.equal((await client.pushBundle("mail", "key/1", { task: 1 })).size, 1);
  assert.deepEqual((await client.readBundle("mail", "key/1")).tasks, [1]);
  const notice = await client.pushNotice({ url: "http://127.0.0.1:9/", data: { a: 1 } });
  assert.equal((await client.getNotice(notice.id)).url, "http://127.0.0.1:9/");
  const rule = { station: "mail", plan_type: /** @type {const} */ ("hour"), plan_value: 1, plan_repet: 2, plan_time: 0 };
  const plan = await client.createPlan(rule);
  assert.deepEqual((await client.planOccurrences(plan.plan_id, { n: 1 })).items, [plan.next_at]);
  const flow = await client.createFlow({ steps: [{ name: "a", queue: "mail" }, { name: "b", queue: "mail", after: ["a"] }] });
  assert.deepEqual((await client.getFlow(flow.id)).steps.map((step) => step.state), ["ready", "pending"]);
  await client.putWorker("w", { queues: ["mail"] });
  assert.equal((await client.getWorker("w")).state, "active");
  await client.deleteWorker("w");
  assert.ok((await client.stats({ queue: "mail" })).step > 0);
  assert.match(await client.metrics(), /^#/);
});

test("pushes gather, and each has its own answer", async () => {
  const { client, seen } = counted();
  await client.push("q", 1, { id: "taken" });
  seen.requests = 0;
  const ids = Array.from({ length: 200 }, (_, n) => `t${n}`);
  const pushed = await Promise.all(ids.map((id) => client.push("q", 1, { id })));
  assert.deepEqual(pushed.map((it) => it.id), ids);
  assert.equal(seen.requests, 2);
  const answers = await Promise.allSettled(["a", "taken", "b c", "d"].map((id) => client.push("q", 1, { id })));
  const told = answers.map((it) => (it.status === "fulfilled" ? it.value.id : it.reason.code));
  assert.deepEqual(told, ["a", "duplicate", "invalid", "d"]);
});

test("a push whose answer is lost pushes once", async () => {
  const { client, seen } = counted();
  seen.answersToLose = 1;
  await client.push("once", 1);
  assert.equal((await client.getQueue("once")).counts.total, 1);
  seen.answersToLose = 1;
  await client.deleteQueue("once");
  seen.answersToLose = 1;
  await assert.rejects(client.moveClock({ advance: "1s" }), NoAnswer);
});

test("bad input is told at once", async () => {
  await assert.rejects(client.putQueue("q", { hold: "soon" }), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.status, error.code], [422, "invalid"]);
    assert.match(error.detail, /hold/);
    return true;
  });
  await assert.rejects(async () => client.getQueue(".."), /no name/);
  await assert.rejects(client.push("q", NaN), PunctualError);
});

test("a server that is away is waited for, and events go on", async () => {
  const durable = await Server.start({ dev: false, durable: true });
  const stop = new AbortController();
  try {
    const client = new Client({ url: durable.url, retryFor: 20 });
    /** @type {string[]} */
    const heard = [];
    const listening = (async () => {
      for await (const event of client.events({ queue: "q", type: "task.*", signal: stop.signal })) heard.push(event.data.id);
    })();
    let number = 0;
    await until(async () => (await client.push("q", 1, { id: `a${number++}` })) && heard.length);
    await durable.kill();
    await assert.rejects(new Client({ url: durable.url, retryFor: 0 }).push("q", 1), Unreachable);
    const pushing = client.push("q", 2, { id: "meanwhile" });
    await durable.restart();
    assert.equal((await pushing).id, "meanwhile");
    await until(async () => (await client.push("q", 1, { id: `b${number++}` })) && heard.some((id) => id?.startsWith("b")));
    stop.abort();
    await listening;
  } finally {
    stop.abort();
    await durable.close();
  }
});

test("the end of a task is waited for", async () => {
  await client.putQueue("ends", { keep: KEEP });
  await client.push("ends", 1, { id: "t" });
  await assert.rejects(client.waitFor("ends", "t", 0.05), /is ready/);
  await client.cancelTask("ends", "t");
  assert.equal((await client.waitFor("ends", "t")).state, "cancelled");
});
