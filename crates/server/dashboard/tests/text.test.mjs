// Both languages say the same things, and every text that is asked for is there.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import en from "../app/text/en/all.js";
import zh from "../app/text/zh/all.js";

const app = new URL("../app/", import.meta.url);
const sources = ["lib", "parts", "pages"].flatMap((directory) =>
  readdirSync(new URL(`${directory}/`, app)).filter((name) => name.endsWith(".js")).map((name) => [`${directory}/${name}`, readFileSync(new URL(`${directory}/${name}`, app), "utf8").replace(/^\s*(\/\/|\*).*$/gm, "")]));

const forms = (text) => (typeof text === "string" ? [text] : Object.values(text));
const blanks = (text) => [...new Set(forms(text).flatMap((form) => form.match(/\{\w+\}/g) ?? []))].sort();

test("both languages have the same keys", () => {
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
});

test("a text and its translation have the same blanks, and none is empty", () => {
  for (const key of Object.keys(en)) {
    assert.deepEqual(blanks(zh[key]), blanks(en[key]), key);
    for (const form of [...forms(en[key]), ...forms(zh[key])]) assert.ok(form.trim(), key);
  }
});

test("texts are translated", () => {
  const same = Object.keys(en).filter((key) => JSON.stringify(en[key]) === JSON.stringify(zh[key]));
  const names = ["queues.url", "tasks.phase.dns", "tasks.phase.tls"];
  assert.deepEqual(same.filter((key) => /[a-z]{3}/i.test(forms(en[key]).join()) && !names.includes(key)), []);
});

test("every key that is asked for is there", () => {
  for (const [name, code] of sources) {
    for (const [, key] of code.matchAll(/\bt\("([^"]+)"/g)) assert.ok(key in en, `${name}: ${key}`);
    for (const [, start] of code.matchAll(/\bt\(`([^`$]+)\$\{/g)) {
      assert.ok(Object.keys(en).some((key) => key.startsWith(start)), `${name}: ${start}…`);
    }
  }
});

test("no key is never asked for", () => {
  const code = sources.map(([, text]) => text).join("\n");
  const exact = new Set([...code.matchAll(/"([\w.-]+)"/g)].map(([, key]) => key));
  const starts = [...code.matchAll(/`([\w.-]*?)\$\{/g)].map(([, start]) => start).filter((start) => start.includes("."));
  const unused = Object.keys(en).filter((key) => !exact.has(key) && !key.endsWith(".title") && !starts.some((start) => key.startsWith(start)) && !/^queues\.\w+$/.test(key));
  assert.deepEqual(unused, []);
});

test("no text stands outside the languages", () => {
  for (const [name, code] of sources) {
    const words = [...code.matchAll(/>([^<>${}`\n]*[A-Za-z]{3}[^<>${}`\n]*)<\//g)].map(([, text]) => text.trim()).filter((text) => !/^(Punctual|Ctrl K|Enter|HTTP)$/.test(text));
    assert.deepEqual(words, [], name);
  }
});
