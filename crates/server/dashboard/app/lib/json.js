// JSON as it was written. `parse` keeps the text of every number and the order and repetition of members,
// which JSON.parse does not: 12345678901234567890 stays what it is. A node knows where it stands in the
// text, so a part can be copied or sent on to the letter.

/**
 * @typedef {object} Node
 * @property {"object" | "array" | "string" | "number" | "literal"} kind
 * @property {number} start
 * @property {number} end
 * @property {[string, Node][]} [members] of an object
 * @property {Node[]} [items] of an array
 * @property {string} [text] of a string: its value; of a number or literal: as it is written
 */

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const LITERAL = /true|false|null/y;

/**
 * Reads a JSON text.
 * @param {string} text
 * @returns {Node}
 */
export function parse(text) {
  let at = 0;

  /** @param {RegExp} pattern */
  const eat = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const space = () => {
    for (let code = text.charCodeAt(at); code === 32 || code === 9 || code === 10 || code === 13; code = text.charCodeAt(at)) at += 1;
  };
  /** @param {string} what @returns {never} */
  const fail = (what) => {
    throw new SyntaxError(`${what} expected at character ${at + 1}`);
  };
  /** @param {string} mark */
  const skip = (mark) => {
    space();
    if (text[at] !== mark) return false;
    at += 1;
    return true;
  };
  const string = () => {
    const found = eat(STRING) ?? fail("a string");
    return /** @type {string} */ (JSON.parse(found));
  };

  /** @returns {Node} */
  const value = () => {
    space();
    const start = at;
    if (text[at] === "{") {
      at += 1;
      /** @type {[string, Node][]} */
      const members = [];
      if (!skip("}")) {
        do {
          space();
          const name = string();
          if (!skip(":")) fail(":");
          members.push([name, value()]);
        } while (skip(","));
        if (!skip("}")) fail("}");
      }
      return { kind: "object", start, end: at, members };
    }
    if (text[at] === "[") {
      at += 1;
      /** @type {Node[]} */
      const items = [];
      if (!skip("]")) {
        do items.push(value());
        while (skip(","));
        if (!skip("]")) fail("]");
      }
      return { kind: "array", start, end: at, items };
    }
    if (text[at] === '"') {
      const found = string();
      return { kind: "string", start, end: at, text: found };
    }
    const number = eat(NUMBER);
    if (number !== undefined) return { kind: "number", start, end: at, text: number };
    const literal = eat(LITERAL) ?? fail("a value");
    return { kind: "literal", start, end: at, text: literal };
  };

  const root = value();
  space();
  if (at < text.length) fail("the end");
  return root;
}

/** The last member of that name. @param {Node} node @param {string} name */
export const member = (node, name) => node.members?.findLast(([found]) => found === name)?.[1];

/** A part of the text, to the letter. @param {string} text @param {Node | undefined} node */
export const raw = (text, node) => (node ? text.slice(node.start, node.end) : "");

/**
 * The same JSON, indented for reading; numbers and strings stay as they are written.
 * @param {string} text
 * @param {Node} [node]
 * @param {string} [indent]
 * @returns {string}
 */
export function pretty(text, node = parse(text), indent = "") {
  const deeper = `${indent}  `;
  if (node.members?.length) {
    const lines = node.members.map(([name, child]) => `${deeper}${JSON.stringify(name)}: ${pretty(text, child, deeper)}`);
    return `{\n${lines.join(",\n")}\n${indent}}`;
  }
  if (node.items?.length) {
    return `[\n${node.items.map((child) => deeper + pretty(text, child, deeper)).join(",\n")}\n${indent}]`;
  }
  return raw(text, node);
}

/** What is wrong with a JSON text. @param {string} text */
export function fault(text) {
  try {
    parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
