// What every component needs: Preact, its hooks, signals, and `html`, which is JSX without a compiler.
// Everything put into a template is text; nothing here ever sets innerHTML.

import { h, render, Fragment } from "../vendor/preact.js";
import { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { batch, computed, effect, signal } from "../vendor/signals.js";
import htm from "../vendor/htm.js";

/** @typedef {import("../vendor/preact.js").ComponentChildren} Children */

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);

export {
  batch, computed, effect, signal, render, Fragment,
  useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState,
};

/**
 * Class names, without the empty ones.
 * @param {...(string | false | null | undefined)} names
 */
export const cx = (...names) => names.filter(Boolean).join(" ");
