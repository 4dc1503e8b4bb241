// The event stream: says what has changed, and is the only thing that makes a view read again.
//
// EventSource cannot send a token, so the stream is read with fetch. An event is not looked into beyond its
// type and queue: it marks what is dirty, and views read the truth from the API. While the tab is hidden the
// stream is closed; it goes on after the last event when the tab is seen again. A flood is not read faster
// than it can be used: the server then cuts us off with `stream.gap`, and everything counts as dirty.

import { signal } from "./html.js";
import { credentials, locked, outage } from "./api.js";

/** @typedef {"connecting" | "live" | "lost" | "caught-up" | "hidden" | "off"} Connection */

/** How the stream is. @type {import("../vendor/signals.js").Signal<Connection>} */
export const connection = signal(/** @type {Connection} */ ("connecting"));

/** Events are of interest by type, `task.*` or exact, and maybe by queue. */
/** @typedef {{types: string[], queue?: string | null, changed: () => void}} Listener */

/** @type {Set<Listener>} */
const listeners = new Set();

const BYTES_AT_ONCE = 256 * 1024;
const PAUSE_MS = 250;
const SILENCE_MS = 40_000;
const BACKOFF_MS = [500, 1000, 2000, 4000, 8000, 15_000];

let lastId = "";
/** @type {AbortController | null} */
let stream = null;
let wanted = "";
let failures = 0;
/** Whether something may have happened that we did not hear of. */
let missed = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let again;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let settling;

/**
 * Hears of what has changed until the function it returns is called.
 * @param {Listener} listener
 */
export function listen(listener) {
  listeners.add(listener);
  settle();
  return () => {
    listeners.delete(listener);
    settle();
  };
}

/** @param {string} type @param {string} [queue] */
function mark(type, queue) {
  for (const listener of listeners) {
    const ofType = listener.types.some((name) => (name.endsWith("*") ? type.startsWith(name.slice(0, -1)) : type === name));
    if (ofType && (!listener.queue || !queue || listener.queue === queue)) listener.changed();
  }
}

function markAll() {
  for (const listener of listeners) listener.changed();
}

/** What to ask the server for: the union of what the views on screen want. */
function interest() {
  if (listeners.size === 0) return "";
  const types = [...new Set([...listeners].flatMap((listener) => listener.types))].sort();
  const queues = [...new Set([...listeners].map((listener) => listener.queue ?? ""))].sort();
  const params = new URLSearchParams({ type: types.join(",") });
  if (!queues.includes("")) params.set("queue", queues.join(","));
  return params.toString();
}

/** Opens another stream if the views want other events, once they have settled. */
function settle() {
  clearTimeout(settling);
  settling = setTimeout(() => {
    if (interest() !== wanted) restart();
  }, 50);
}

/** Closes the stream and opens it again where it was. */
export function restart() {
  clearTimeout(again);
  stream?.abort();
  stream = null;
  wanted = interest();
  if (document.hidden) connection.value = "hidden";
  else if (wanted && !locked.value) void open(wanted);
}

/** @param {string} query */
async function open(query) {
  const mine = new AbortController();
  // A stream that goes on after no event tells nothing of what happened since the views were read.
  missed ||= !lastId;
  let ended = false;
  stream = mine;
  try {
    const response = await fetch(`/v1/events?${query}`, {
      signal: mine.signal, cache: "no-store", credentials: "omit",
      headers: { ...credentials(), ...(lastId ? { "last-event-id": lastId } : {}) },
    });
    if (response.status === 401) locked.value = true;
    if (response.status === 401 || response.status === 403) {
      connection.value = "off";
      return;
    }
    if (!response.ok || !response.body) throw new Error(response.statusText);
    opened();
    await consume(response.body.getReader(), mine);
    ended = true;
  } catch {
    // Whatever it was, the stream is gone.
  }
  if (mine.signal.aborted && stream !== mine) return;
  missed = true;
  // The server ends a stream that is read too slowly; that is no lost connection unless it cannot be opened again.
  if (!ended) connection.value = "lost";
  const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 15_000;
  failures += 1;
  again = setTimeout(restart, wait * (0.75 + Math.random() / 2));
}

function opened() {
  const wasLost = connection.value === "lost";
  failures = 0;
  outage.value = false;
  connection.value = wasLost ? "caught-up" : "live";
  if (missed) markAll();
  missed = false;
  if (!wasLost) return;
  setTimeout(() => {
    if (connection.value === "caught-up") connection.value = "live";
  }, 4000);
}

/**
 * @param {ReadableStreamDefaultReader<Uint8Array>} reader
 * @param {AbortController} mine
 */
async function consume(reader, mine) {
  const decoder = new TextDecoder();
  let rest = "";
  let spent = 0;
  for (;;) {
    const silence = setTimeout(() => mine.abort(), SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const text = rest + decoder.decode(value, { stream: true });
    const end = text.lastIndexOf("\n\n");
    rest = end < 0 ? text : text.slice(end + 2);
    if (end >= 0) frames(text.slice(0, end));
    spent += value.length;
    if (spent > BYTES_AT_ONCE) {
      spent = 0;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** Marks what whole frames name. @param {string} text */
function frames(text) {
  const id = text.slice(text.lastIndexOf("\nid: ") + 1).match(/^id: (.*)/)?.[1];
  if (id) lastId = id;
  /** @type {Set<string>} */
  const seen = new Set();
  for (const [, data = ""] of text.matchAll(/^data: (.*)$/gm)) {
    const type = data.match(/"type":"([^"]+)"/)?.[1] ?? "";
    if (type === "stream.gap") {
      markAll();
      continue;
    }
    const queue = data.match(/"queue":"([^"]+)"/)?.[1];
    const key = `${type} ${queue ?? ""}`;
    if (seen.has(key)) continue;
    seen.add(key);
    mark(type, queue);
  }
}

document.addEventListener("visibilitychange", () => {
  restart();
  if (!document.hidden) markAll();
});
addEventListener("online", restart);
