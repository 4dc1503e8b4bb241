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

addEventListener("hashchange", () => {
  route.value = read();
});

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

/** @param {string[]} path @param {Record<string, string | number | null | undefined>} [query] */
export function go(path, query) {
  location.hash = href(path, query);
}

/**
 * Changes some of the filters; null takes one away. Typing replaces the address, a click adds to the history.
 * @param {Record<string, string | number | null>} patch
 * @param {{replace?: boolean}} [how]
 */
export function filter(patch, { replace = false } = {}) {
  const { path, query } = route.value;
  const address = href(path, { ...Object.fromEntries(query), ...patch });
  if (replace) history.replaceState(null, "", address);
  else location.hash = address;
  // The browser tells of the new address later, and what is typed until then must not bring the old one back.
  route.value = read();
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
