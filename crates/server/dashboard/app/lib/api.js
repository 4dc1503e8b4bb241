// The public API, and nothing else: whatever the dashboard shows or does, anybody can with the same token.
// The token lives in this tab's session storage and goes only into the Authorization header. A new tab asks the tabs
// that are open for theirs; nothing of it outlives the last of them.

import { setClock } from "./clock.js";
import { signal } from "./html.js";

const STORED = "punctual.token";

/** The token of this tab, if there is one. */
export const token = signal(sessionStorage.getItem(STORED));

/** How long a new tab waits for the token of another. */
const ANSWER_MS = 300;

/** The other tabs of this dashboard. @typedef {{kind: "ask" | "forget"} | {kind: "token", token: string}} Word */
const others = new BroadcastChannel("punctual.token");

others.addEventListener("message", ({ data }) => {
  const word = /** @type {Word} */ (data);
  if (word.kind === "ask" && token.peek() && !locked.peek()) say({ kind: "token", token: token.peek() ?? "" });
  else if (word.kind === "forget") forget();
});

/** @param {Word} word */
const say = (word) => others.postMessage(word);

/** The token of another tab, if there is one. @returns {Promise<string | null>} */
function borrow() {
  return new Promise((resolve) => {
    const heard = (/** @type {MessageEvent<Word>} */ { data }) => data.kind === "token" && end(data.token);
    const end = (/** @type {string | null} */ value) => {
      clearTimeout(timer);
      others.removeEventListener("message", heard);
      resolve(value);
    };
    const timer = setTimeout(() => end(null), ANSWER_MS);
    others.addEventListener("message", heard);
    say({ kind: "ask" });
  });
}

/** Whether the server asks for a token, or for another one. */
export const locked = signal(false);

/** Whether the server, or its store, was out of reach when it was last asked. */
export const outage = signal(false);

/** @typedef {"read" | "produce" | "consume" | "admin"} Right */
/** @typedef {{open: boolean, rights: Right[], queues: string[] | null}} Access */

/** What the token is good for; unknown until the server has said so. @type {import("../vendor/signals.js").Signal<Access | null>} */
export const access = signal(/** @type {Access | null} */ (null));

/** An answer that says what went wrong. */
export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} detail */
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** @param {string | null} value */
function keep(value) {
  if (value) sessionStorage.setItem(STORED, value);
  else sessionStorage.removeItem(STORED);
  token.value = value;
}

/** Headers that say who we are. @returns {Record<string, string>} */
export const credentials = () => (token.value ? { authorization: `Bearer ${token.value}` } : {});

/**
 * Sends a request. `body` is a value, or JSON as text, which is sent as it is.
 * @param {string} method
 * @param {string} path
 * @param {{body?: unknown, json?: string, signal?: AbortSignal, locks?: boolean}} [options] locks: whether a token that is refused is asked for
 * @returns {Promise<Response>}
 */
async function send(method, path, { body, json, signal, locks = true } = {}) {
  const text = json ?? (body === undefined ? undefined : JSON.stringify(body));
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, {
      method, signal, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer",
      headers: { ...credentials(), ...(text === undefined ? {} : { "content-type": "application/json" }) },
      ...(text === undefined ? {} : { body: text }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    outage.value = true;
    throw new ApiError(0, "unreachable", String(error instanceof Error ? error.message : error));
  }
  outage.value = response.status === 503;
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401 && locks) locked.value = true;
  throw new ApiError(response.status, problem.code ?? "", problem.detail ?? response.statusText);
}

/** @param {Response} response */
const read = async (response) => (response.status === 204 ? null : response.json());

export const api = {
  /** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
  get: async (path, signal) => read(await send("GET", path, { signal })),
  /** The answer as it was written, for numbers beyond JavaScript's. @param {string} path @param {AbortSignal} [signal] */
  text: async (path, signal) => (await send("GET", path, { signal })).text(),
  /** @param {string} path @param {unknown} [body] @param {AbortSignal} [signal] @returns {Promise<any>} */
  post: async (path, body = {}, signal) => read(await send("POST", path, { body, signal })),
  /** @param {string} path @param {string} json @returns {Promise<any>} */
  postJson: async (path, json) => read(await send("POST", path, { json })),
  /** @param {string} path @param {unknown} body @returns {Promise<any>} */
  put: async (path, body) => read(await send("PUT", path, { body })),
  /** @param {string} path @param {string} json @returns {Promise<any>} */
  putJson: async (path, json) => read(await send("PUT", path, { json })),
  /** @param {string} path @param {string} json @returns {Promise<any>} */
  patchJson: async (path, json) => read(await send("PATCH", path, { json })),
  /** @param {string} path @returns {Promise<any>} */
  delete: async (path) => read(await send("DELETE", path)),
};

/**
 * A path of the API: its parts escaped, empty values of the query left out.
 * @param {TemplateStringsArray} strings
 * @param {...(string | number | Record<string, unknown>)} values
 */
export function url(strings, ...values) {
  return strings.reduce((path, string, index) => {
    const value = values[index - 1];
    return path + (typeof value === "object" ? search(value) : encodeURIComponent(String(value))) + string;
  });
}

/** @param {Record<string, unknown>} query */
function search(query) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") params.set(name, String(value));
  }
  return params.size ? `?${params}` : "";
}

/** Asks what the token is good for; without a good one the server is locked. */
export async function enter() {
  const lent = token.peek() ? null : borrow();
  let granted = await knock();
  const found = granted ? null : await lent;
  if (found) {
    keep(found);
    granted = await knock();
  }
  locked.value = !granted;
  if (!granted) return;
  access.value = granted;
  if (unlimited() && may("read")) api.get("/v1/system").then(({ now }) => setClock(now), () => {});
}

/** What the token is good for; null: the server does not know it. @returns {Promise<Access | null>} */
async function knock() {
  try {
    return await read(await send("GET", "/v1/access", { locks: false }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** Tries another token; the old one is forgotten. @param {string} value @returns {Promise<boolean>} */
export async function unlock(value) {
  keep(value);
  await enter();
  return !locked.value;
}

/** Forgets the token, in every tab. */
export function leave() {
  forget();
  say({ kind: "forget" });
}

function forget() {
  keep(null);
  access.value = null;
  locked.value = true;
}

/**
 * Whether the token allows something, on a queue if one is named.
 * @param {Right} right
 * @param {string | null} [queue]
 */
export function may(right, queue) {
  const held = access.value;
  if (!held?.rights.includes(right)) return false;
  if (held.queues === null || queue === undefined || queue === null) return true;
  return held.queues.some((name) => (name.endsWith("*") ? queue.startsWith(name.slice(0, -1)) : name === queue));
}

/** Whether the token is good for all queues. */
export const unlimited = () => access.value?.queues === null;
