// The languages. `t("section.key", {n: 3})` is the text of a key in the viewer's language; `{n}` in a text is
// replaced, and a text with `one` and `other` is chosen by `n`. Texts live in `text/<language>/<section>.js`,
// which `text/<language>/all.js` gathers; both languages have the same keys, which a test makes sure of.

import { computed, effect, signal } from "./html.js";
import en from "../text/en/all.js";
import zh from "../text/zh/all.js";

/** @typedef {"en" | "zh"} Language */

/** @type {Record<Language, Record<string, string | {one: string, other: string}>>} */
const TEXTS = { en, zh };

/** What each language calls itself. */
export const LANGUAGES = /** @type {const} */ ({ en: "English", zh: "简体中文" });

const STORED = "punctual.language";

/** @returns {Language} */
function preferred() {
  const stored = localStorage.getItem(STORED);
  if (stored === "en" || stored === "zh") return stored;
  return navigator.languages.find((name) => /^(zh|en)/i.test(name))?.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** The viewer's language. */
export const language = signal(preferred());

/** The locale numbers and times are written in. */
export const locale = computed(() =>
  language.value === "zh" ? "zh-CN" : navigator.languages.find((name) => name.startsWith("en")) ?? "en");

/** @param {Language} chosen */
export function speak(chosen) {
  localStorage.setItem(STORED, chosen);
  language.value = chosen;
}

effect(() => {
  document.documentElement.lang = language.value === "zh" ? "zh-Hans" : "en";
});

/**
 * The text of a key.
 * @param {string} key
 * @param {Record<string, unknown>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const found = TEXTS[language.value][key] ?? TEXTS.en[key] ?? key;
  const text = typeof found === "string" ? found : values.n === 1 ? found.one : found.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? number(value) : String(value);
  });
}

/** Whether there is a text of that key. @param {string} key */
export const has = (key) => key in TEXTS.en;

const formats = computed(() => ({
  plain: new Intl.NumberFormat(locale.value),
  short: new Intl.NumberFormat(locale.value, { notation: "compact", maximumFractionDigits: 1 }),
}));

/** A number as people write it. @param {number} value */
export const number = (value) => formats.value.plain.format(value);

/** A number in a few characters. @param {number} value */
export const short = (value) => (value < 10_000 ? number(value) : formats.value.short.format(value));

/** A number of bytes. @param {number} value */
export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) (value /= 1024), (unit += 1);
  return `${number(Math.round(value * 10) / 10)} ${units[unit]}`;
}

/** How often something was tried, and of how many times; one that was told to try once more has no such limit. @param {{attempt: number, max_attempts: number}} task */
export const tries = ({ attempt, max_attempts: most }) => (attempt <= most ? `${attempt} / ${most}` : `${attempt}`);
