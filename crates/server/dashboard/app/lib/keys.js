// Shortcuts: one key, or `g` and then one. They are silent while somebody types, or a dialog is open.

import { signal } from "./html.js";

/** @typedef {{keys: string, label: string, run: () => void}} Shortcut */

/** What can be pressed now. @type {import("../vendor/signals.js").Signal<Shortcut[]>} */
export const shortcuts = signal(/** @type {Shortcut[]} */ ([]));

/** @param {Shortcut[]} more */
export function bind(more) {
  shortcuts.value = [...shortcuts.peek(), ...more];
  return () => {
    shortcuts.value = shortcuts.peek().filter((shortcut) => !more.includes(shortcut));
  };
}

let before = "";
let beforeAt = 0;

addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey || event.isComposing) return;
  if (!control && (target.closest?.("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]"))) return;
  const key = control ? `Ctrl-${event.key.toUpperCase()}` : event.key;
  const both = event.timeStamp - beforeAt < 1500 && before ? `${before} ${key}` : key;
  const found = shortcuts.peek().find(({ keys }) => keys === both) ?? shortcuts.peek().find(({ keys }) => keys === key);
  [before, beforeAt] = [found ? "" : key, event.timeStamp];
  if (!found) return;
  event.preventDefault();
  found.run();
});
