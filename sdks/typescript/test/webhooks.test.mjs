// Deliveries are verified, genuine ones and others.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createPublicKey, createPrivateKey } from "node:crypto";
import { test } from "node:test";

import { WebhookError, verify } from "../dist/esm/index.js";
import { Server } from "../dist/esm/testing.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
// The example of the Standard Webhooks specification.
const BODY = '{"test": 2432232314}';
const HEADERS = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const now = 1614265330;

test("the known example fits, others do not", () => {
  assert.equal(verify(BODY, HEADERS, SECRET, { now }), "msg_p5jXN8AQM9LWM0D4loKWxJek");
  assert.ok(verify(BODY, new Headers(HEADERS), ["whsec_AAAA", SECRET], { now }));
  const refused = [
    [`${BODY} `, {}, now],
    [BODY, { "webhook-id": "other" }, now],
    [BODY, { "webhook-signature": "v1,AAAA" }, now],
    [BODY, { "webhook-timestamp": "soon" }, now],
    [BODY, {}, now + 301],
    [BODY, {}, now - 301],
  ];
  for (const [body, change, at] of refused) {
    assert.throws(
      () => verify(/** @type {string} */ (body), { ...HEADERS, .../** @type {object} */ (change) }, SECRET, { now: Number(at) }),
      WebhookError,
    );
  }
  assert.throws(() => verify(BODY, {}, SECRET), /missing/);
});

test("real deliveries are verified", async () => {
  const server = await Server.start({ args: ["--allow-private-targets"] });
  const target = createServer();
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
  try {
    const seed = Buffer.from(Array.from({ length: 32 }, (_, n) => n));
    const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
    const key = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
    const pair = `whsk_${seed.toString("base64")}`;
    const known = `whpk_${key.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")}`;
    const { port } = /** @type {import("node:net").AddressInfo} */ (target.address());
    const url = `http://127.0.0.1:${port}/`;
    await server.client.putQueue("hooks", { mode: "http", url, secret: [SECRET, pair] });
    const called = once(target, "request");
    await server.client.push("hooks", { a: 1 });
    const [request, response] = await called;
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    response.writeHead(204).end();
    const body = Buffer.concat(chunks);
    for (const secret of [SECRET, pair, known]) {
      assert.ok(verify(body, request.headers, secret));
      assert.throws(() => verify(`${body}x`, request.headers, secret), WebhookError);
    }
  } finally {
    target.closeAllConnections();
    target.close();
    await server.close();
  }
});
