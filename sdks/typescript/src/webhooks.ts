// Verifies deliveries: Standard Webhooks, signatures `v1` (HMAC-SHA256) and `v1a` (Ed25519).

import { createHmac, createPrivateKey, createPublicKey, timingSafeEqual, verify as verifies, type KeyObject } from "node:crypto";

import { PunctualError } from "./errors.js";

/** The delivery is not genuine, or too old. */
export class WebhookError extends PunctualError {}

/** Headers as Node, Express (`req.headers`) or Fetch (`request.headers`) have them. */
export type HeadersLike = Headers | Record<string, string | string[] | undefined>;

export interface VerifyOptions {
  /** How many seconds the sender's clock and this one may be apart; 300 if left out. */
  tolerance?: number;
  /** Unix seconds; now if left out. */
  now?: number;
}

// The bytes before an Ed25519 key in DER.
const PUBLIC_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/**
 * Checks a delivery and returns its `webhook-id`, by which a repeat is recognised.
 *
 * `body` is the request's body as it came, before any parsing. `secret` is one or several of: `whsec_…` or plain text
 * (HMAC), `whpk_…` (a public Ed25519 key) or `whsk_…` (the key pair). One signature that fits is enough.
 */
export function verify(
  body: string | Uint8Array,
  headers: HeadersLike,
  secret: string | string[],
  options: VerifyOptions = {},
): string {
  const id = header(headers, "webhook-id");
  const stamp = header(headers, "webhook-timestamp");
  const signatures = header(headers, "webhook-signature").split(/\s+/).map((part) => part.split(","));
  if (!/^\d+$/.test(stamp)) throw new WebhookError("webhook-timestamp is no number");
  const now = options.now ?? Date.now() / 1000;
  if (Math.abs(now - Number(stamp)) > (options.tolerance ?? 300)) {
    throw new WebhookError("webhook-timestamp is too far from now");
  }
  const content = typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
  const message = Buffer.concat([Buffer.from(`${id}.${stamp}.`), content]);
  for (const key of Array.isArray(secret) ? secret : [secret]) {
    const isEd25519 = /^wh[ps]k_/.test(key);
    const given = signatures.filter(([kind]) => kind === (isEd25519 ? "v1a" : "v1")).map(([, text]) => decoded(text ?? ""));
    if (isEd25519 ? fitsEd25519(key, message, given) : fitsHmac(key, message, given)) return id;
  }
  throw new WebhookError("no signature fits");
}

function header(headers: HeadersLike, name: string): string {
  const get = (headers as Headers).get;
  let value: string | string[] | null | undefined;
  if (typeof get === "function") {
    value = (headers as Headers).get(name);
  } else {
    const found = Object.entries(headers as Record<string, string | string[] | undefined>);
    value = found.find(([key]) => key.toLowerCase() === name)?.[1];
  }
  const text = Array.isArray(value) ? value.join(" ") : value;
  if (!text) throw new WebhookError(`the header '${name}' is missing`);
  return text;
}

function fitsHmac(key: string, message: Buffer, given: Buffer[]): boolean {
  const secret = key.startsWith("whsec_") ? decoded(key.slice(6)) : Buffer.from(key);
  const expected = createHmac("sha256", secret).update(message).digest();
  return given.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
}

function fitsEd25519(key: string, message: Buffer, given: Buffer[]): boolean {
  const bytes = decoded(key.slice(5)).subarray(0, 32);
  if (bytes.length !== 32) return false;
  let known: KeyObject;
  if (key.startsWith("whsk_")) {
    known = createPublicKey(createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, bytes]), format: "der", type: "pkcs8" }));
  } else {
    known = createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, bytes]), format: "der", type: "spki" });
  }
  return given.some((signature) => signature.length === 64 && verifies(null, message, known, signature));
}

/** Base64, standard or URL-safe, padded or not. */
function decoded(text: string): Buffer {
  return Buffer.from(text, "base64");
}
