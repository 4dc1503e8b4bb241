// The examples and those of the README run.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import ts from "typescript";

import { Server } from "../dist/esm/testing.js";
import { KEEP } from "./until.mjs";

const root = new URL("..", import.meta.url);
const made = new URL("dist/examples/", root);
/** @type {Server} */
let server;
before(async () => {
  mkdirSync(made, { recursive: true });
  server = await Server.start();
  process.env.PUNCTUAL_URL = server.url;
});
after(() => server.close());

/** @param {URL} file */
function started(file) {
  const env = { ...process.env, PUNCTUAL_URL: server.url };
  return spawn(process.execPath, [fileURLToPath(file)], { env, stdio: ["ignore", "pipe", "inherit"] });
}

/** @param {ReturnType<typeof started>} child */
async function ended(child) {
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  assert.deepEqual(await exit, [0, null], "a signal ends a worker gracefully");
}

/** @param {string} name @param {string} source */
function compiled(name, source) {
  const module = ts.ModuleKind.ES2022;
  const { outputText } = ts.transpileModule(source, { compilerOptions: { module, target: ts.ScriptTarget.ES2022 } });
  writeFileSync(new URL(name, made), outputText);
  return new URL(name, made);
}

/** A request as the server would send it. @param {string} body */
function signed(body) {
  const stamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
  const signature = createHmac("sha256", key).update(`d1.${stamp}.${body}`).digest("base64");
  return { "webhook-id": "d1", "webhook-timestamp": stamp, "webhook-signature": `v1,${signature}` };
}

test("worker.mjs and report.cjs", async () => {
  const { client } = server;
  for (const queue of ["mail", "report"]) await client.putQueue(queue, { keep: KEEP });
  const workers = [new URL("examples/worker.mjs", root), new URL("examples/report.cjs", root)].map(started);
  await client.push("mail", { to: "ada" }, { id: "m" });
  await client.push("report", { pages: 5 }, { id: "r" });
  assert.equal((await client.waitFor("mail", "m")).result, "sent to ada");
  assert.equal((await client.waitFor("report", "r")).result, "5 pages");
  await Promise.all(workers.map(ended));
});

test("express.mjs", async () => {
  const { app } = await import("../examples/express.mjs");
  const listening = app.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const url = `http://127.0.0.1:${/** @type {any} */ (listening.address()).port}/hooks`;
  const body = '{"a":1}';
  assert.equal((await fetch(url, { method: "POST", body, headers: signed(body) })).status, 204);
  assert.equal((await fetch(url, { method: "POST", body, headers: signed("other") })).status, 401);
  listening.closeAllConnections();
  listening.close();
});

test("next/route.ts", async () => {
  const file = compiled("route.mjs", readFileSync(new URL("examples/next/route.ts", root), "utf8"));
  const { POST } = await import(file.href);
  const body = '{"a":1}';
  const request = (/** @type {string} */ of) => new Request("http://shop/hooks", { method: "POST", body, headers: signed(of) });
  assert.equal((await POST(request(body))).status, 204);
  assert.equal((await POST(request("other"))).status, 401);
  assert.deepEqual(/** @type {any} */ (await server.client.getTask("received", "d1")).payload, { a: 1 });
});

test("the README", async () => {
  const text = readFileSync(new URL("README.md", root), "utf8");
  const blocks = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, block]) => block);
  assert.ok(blocks[0].trim().split("\n").length < 10);
  const [worker, program] = blocks.map((block, index) => compiled(`readme${index}.mjs`, block));
  await server.client.putQueue("mail", { keep: KEEP });
  const working = started(worker);
  const running = started(program);
  let printed = "";
  running.stdout.on("data", (piece) => (printed += piece));
  assert.deepEqual(await once(running, "close"), [0, null]);
  assert.equal(printed.trim(), "done sent to ada");
  await ended(working);
});
