// A JSON value to look into: collapsible, exact to the digit, and never more on screen than can be read.

import { html, useMemo, useState } from "../lib/html.js";
import { number, t } from "../lib/text.js";
import { parse, pretty, raw } from "../lib/json.js";
import { say } from "./toast.js";
import { Icon } from "./icon.js";

/** @typedef {import("../lib/json.js").Node} Node */

const OPEN_DEPTH = 2;
const CHILDREN_AT_ONCE = 100;
const STRING_AT_ONCE = 1000;

/** @param {string} text */
export async function copy(text) {
  await navigator.clipboard.writeText(text);
  say(t("shell.copied"));
}

/**
 * @param {{text: string, label: string}} props the JSON, as it was written
 */
export function JsonTree({ text, label }) {
  const root = useMemo(() => parse(text), [text]);
  return html`
    <div class="json" role="group" aria-label=${label}>
      <button class="plain json-copy" onClick=${() => copy(pretty(text))}>
        <${Icon} name="copy" />
        ${t("shell.copy")}
      </button>
      <${Value} text=${text} node=${root} depth=${0} />
    </div>
  `;
}

/** @param {{text: string, node: Node, name?: string, depth: number}} props */
function Value({ text, node, name, depth }) {
  const children = node.members ?? node.items;
  const label =
    name === undefined
      ? ""
      : html`
          <span class="json-name" dir="auto">${name}</span>
          <span class="json-mark">${": "}</span>
        `;
  if (!children?.length) {
    return html`
      <div class="json-line">
        ${label}
        <${Leaf} text=${text} node=${node} />
      </div>
    `;
  }
  return html`<${Branch} text=${text} node=${node} label=${label} depth=${depth} />`;
}

/** @param {{text: string, node: Node, label: any, depth: number}} props */
function Branch({ text, node, label, depth }) {
  const size = (node.members ?? node.items ?? []).length;
  const [open, setOpen] = useState(depth < OPEN_DEPTH && (depth === 0 || size <= 30));
  const [shown, setShown] = useState(CHILDREN_AT_ONCE);
  const [before, after] = node.members ? ["{", "}"] : ["[", "]"];
  /** @type {[string, Node][]} */
  const children = open
    ? (node.members?.slice(0, shown) ?? (node.items ?? []).slice(0, shown).map((item, index) => [String(index), item]))
    : [];
  return html`
    <div class="json-branch">
      <button class="json-line json-toggle" aria-expanded=${open} onClick=${() => setOpen(!open)}>
        <${Icon} name=${open ? "down" : "right"} />
        ${label}
        <span class="json-mark">${before}${open ? "" : "…" + after}</span>
        ${!open && html`<span class="muted">${" "}${number(size)}</span>`}
      </button>
      ${
        open &&
        html`
          <div class="json-children">
            ${children.map(
              ([name, child], index) => html`
                <${Value} key=${index} text=${text} node=${child} name=${name} depth=${depth + 1} />
              `,
            )}
            ${
              size > shown &&
              html`
                <button class="link" onClick=${() => setShown(shown + CHILDREN_AT_ONCE)}>
                  ${t("shell.show-more", { n: size - shown })}
                </button>
              `
            }
          </div>
          <div class="json-line json-mark">${after}</div>
        `
      }
    </div>
  `;
}

/** @param {{text: string, node: Node}} props */
function Leaf({ text, node }) {
  const [whole, setWhole] = useState(false);
  if (node.kind !== "string")
    return html`<span class=${`json-${node.kind}`}>${raw(text, node)}</span>`;
  const string = node.text ?? "";
  const long = string.length > STRING_AT_ONCE && !whole;
  return html`
    <span class="json-string">
      "
      <bdi>${long ? string.slice(0, STRING_AT_ONCE) : string}</bdi>
      "
    </span>
    ${
      long &&
      html`
        ${" "}
        <button class="link" onClick=${() => setWhole(true)}>${t("shell.show-all", { n: string.length })}</button>
      `
    }
  `;
}
