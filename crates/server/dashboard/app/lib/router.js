// The address bar: `#/queues/mail/tasks/1?state=failed`. Filters are part of the address, so that a view can
// be sent to somebody else and found again with the back button.

import { signal } from "./html.js";

/** @typedef {{path: string[], query: URLSearchParams}} Route */

/** @returns {Route} */
function read() {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { path: parts, query: new URLSearchParams(query) };
}

/** Where we are. */
export const route = signal(read());

/** How many pages were gone to so far. */
let visits = 0;
let followed = location.hash;

/** Follows the address bar. The browser tells of a new address later than it has it, so this is asked for besides. */
function follow() {
  if (location.hash === followed) return;
  const next = read();
  const leaves = href(next.path) !== href(route.peek().path);
  if (leaves && blocks.size > 0) {
    const address = location.hash;
    history.replaceState(null, "", followed || "#/");
    return void ask(address);
  }
  followed = location.hash;
  if (leaves) visits += 1;
  route.value = next;
}

/** Questions that are asked before the page is left. @type {Set<() => Promise<boolean>>} */
const blocks = new Set();

/** Asks, and goes on if that is the answer. @param {string} address */
async function ask(address) {
  for (const question of blocks) if (!(await question())) return;
  blocks.clear();
  location.hash = address;
  follow();
}

// A link is stopped before it is followed, so that the history has no trace of it.
document.addEventListener(
  "click",
  (event) => {
    const link = /** @type {Element} */ (event.target).closest?.("a[href^='#/']");
    if (!link || blocks.size === 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void ask(link.getAttribute("href") ?? "");
  },
  true,
);

/** Has a question asked before the page is left, until the function it returns is called. @param {() => Promise<boolean>} question */
export function block(question) {
  blocks.add(question);
  return () => void blocks.delete(question);
}

addEventListener("hashchange", follow);

/**
 * An address: parts of a path are escaped, empty values left out.
 * @param {string[]} path
 * @param {Record<string, string | number | null | undefined>} [query]
 */
export function href(path, query = {}) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") params.set(name, String(value));
  }
  const search = params.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

/**
 * Goes to another page. `saved`: what was edited on this one has been saved, so that nothing is asked.
 * @param {string[]} path
 * @param {Record<string, string | number | null | undefined>} [query]
 * @param {{saved?: boolean}} [how]
 */
export function go(path, query, { saved = false } = {}) {
  if (saved) blocks.clear();
  location.hash = href(path, query);
  follow();
}

/**
 * Marks the page the reader is on. The answer says whether he is still there; once he has gone elsewhere it stays no,
 * also after his return. Whatever waits for the server asks it before it moves him.
 * @returns {() => boolean}
 */
export function here() {
  follow();
  const mine = visits;
  return () => {
    follow();
    return visits === mine;
  };
}

/**
 * Changes some of the filters; null takes one away. Typing replaces the address, a click adds to the history.
 * @param {Record<string, string | number | null>} patch
 * @param {{replace?: boolean}} [how]
 */
export function filter(patch, { replace = false } = {}) {
  const { path, query } = route.value;
  // A timer or a field that loses the focus may speak for a page that is being left.
  if (href(read().path) !== href(path)) return;
  const address = href(path, { ...Object.fromEntries(query), ...patch });
  if (replace) history.replaceState(null, "", address);
  else location.hash = address;
  // Text typed before the browser tells of the new address must not bring the old one back.
  follow();
}

/**
 * The parts of a path under a pattern such as `queues/:queue/tasks/:id`, or null if it is not of that shape.
 * @param {string} pattern
 * @param {string[]} path
 * @returns {Record<string, string> | null}
 */
export function match(pattern, path) {
  const parts = pattern.split("/").filter(Boolean);
  if (parts.length !== path.length) return null;
  /** @type {Record<string, string>} */
  const found = {};
  for (const [index, part] of parts.entries()) {
    const value = path[index] ?? "";
    if (part.startsWith(":")) found[part.slice(1)] = value;
    else if (part !== value) return null;
  }
  return found;
}
