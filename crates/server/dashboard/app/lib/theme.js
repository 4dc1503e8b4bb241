// Light or dark: as the system says, unless the viewer has chosen.

import { effect, signal } from "./html.js";

/** @typedef {"system" | "light" | "dark"} Theme */

const STORED = "punctual.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const stored = localStorage.getItem(STORED);

/** What was chosen. @type {import("../vendor/signals.js").Signal<Theme>} */
export const theme = signal(stored === "light" || stored === "dark" ? stored : "system");

/** Whether it is dark now. */
export const dark = signal(false);

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  dark.value = theme.value === "dark" || (theme.value === "system" && system.matches);
});
system.addEventListener("change", () => {
  dark.value = theme.value === "dark" || (theme.value === "system" && system.matches);
});

/** @param {Theme} chosen */
export function dress(chosen) {
  localStorage.setItem(STORED, chosen);
  theme.value = chosen;
}

/** From light to dark and back. */
export const flip = () => dress(dark.value ? "light" : "dark");
