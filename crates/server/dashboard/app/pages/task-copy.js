// The push that makes a task again: every setting that can be read back, to the letter. What the server hides reads as
// `***`; nothing is ever pushed with that in its place.

import { token, url } from "../lib/api.js";
import { member, parse, raw } from "../lib/json.js";

/** What a push takes besides its payload, its id and its time. */
const SETTINGS = ["priority", "hold", "max_attempts", "retry", "unique_for", "expires", "requires", "http", "callback", "tags"];
const HIDDEN = '"***"';

/** Whether something in it is hidden. @param {string} json */
export const hides = (json) => json.includes(HIDDEN);

/** What a task carries, to the letter. @param {string} text @returns {Record<string, string>} */
export function pieces(text) {
  const root = parse(text);
  return Object.fromEntries(
    ["payload", "result", "checkpoint", ...SETTINGS].map((name) => [name, raw(text, member(root, name))]),
  );
}

/**
 * The settings of a task that differ from those a push would get without them.
 * @param {Record<string, string>} parts as `pieces` has them
 * @param {any} queue its queue, if that is known
 * @returns {[string, string][]} names and JSON
 */
export function settingsOf(parts, queue) {
  const usual = /** @type {Record<string, string>} */ ({
    priority: "0",
    tags: "[]",
    requires: "[]",
    max_attempts: String(queue?.max_attempts ?? ""),
  });
  return SETTINGS.map((name) => /** @type {[string, string]} */ ([name, parts[name] ?? ""])).filter(
    ([name, json]) => json !== "" && json !== "null" && json !== usual[name],
  );
}

/** A word as a shell takes it. @param {string} word */
const quoted = (word) => `'${word.replaceAll("'", `'\\''`)}'`;

/** The name of the variable that stands for a hidden value. @param {string} name */
const variable = (name) => name.toUpperCase().replace(/[^A-Z0-9]+/g, "_").replace(/^(?=\d)/, "_");

/**
 * The push that would make the same task again, as a command. A token is never written out, and neither is a value that
 * is hidden: the shell asks for both as variables.
 * @param {string} queue
 * @param {string} payload
 * @param {[string, string][]} settings
 */
export function curl(queue, payload, settings) {
  const hidden = /"([^"\\]+)"(\s*:\s*)"\*\*\*"/g;
  const body = [["payload", payload], ...settings].map(([name, json = ""]) =>
    name === "payload"
      ? quoted(`"payload":${json}`).slice(1, -1)
      : quoted(`"${name}":${json}`)
          .slice(1, -1)
          .replace(hidden, (_, key, colon) => `"${key}"${colon}"'"\${${variable(key)}:?}"'"`),
  );
  const header = token.value ? ' -H "Authorization: Bearer $PUNCTUAL_TOKEN"' : "";
  return `curl -X POST${header} ${quoted(location.origin + url`/v1/queues/${queue}/tasks`)} -d '{${body.join()}}'`;
}
