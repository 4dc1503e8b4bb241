// Short words about what has just been done, or why not. Errors stay until they are dismissed, those of
// an outage until it is over, but long enough to be read.

import { cx, effect, html, signal } from "../lib/html.js";
import { ApiError, outage } from "../lib/api.js";
import { go, here } from "../lib/router.js";
import { t } from "../lib/text.js";
import { Icon } from "./icon.js";

const SHOWN_MS = 5000;

/** @typedef {{id: number, text: string, bad: boolean, outage: boolean}} Toast outage: whether it is about the server being away */
const toasts = signal(/** @type {Toast[]} */ ([]));
let last = 0;

/** @param {number} id */
const dismiss = (id) => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** Says that something is done. @param {string} text */
export function say(text) {
  const id = (last += 1);
  toasts.value = [...toasts.value.slice(-3), { id, text, bad: false, outage: false }];
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Says what went wrong, in the server's words. @param {unknown} error */
export function complain(error) {
  const text =
    error instanceof ApiError && error.status === 0
      ? t("shell.unreachable")
      : error instanceof Error
        ? error.message
        : String(error);
  const away = error instanceof ApiError && (error.status === 0 || error.status === 503);
  const toast = { id: (last += 1), text, bad: true, outage: away };
  toasts.value = [...toasts.value.slice(-3), toast];
  // Another request may have ended the outage already.
  if (away && !outage.peek()) forget([toast]);
}

/** Dismisses words about an outage that is over, when they could be read. @param {Toast[]} over */
const forget = (over) => over.forEach((toast) => setTimeout(() => dismiss(toast.id), SHOWN_MS));

effect(() => {
  if (!outage.value) forget(toasts.peek().filter((toast) => toast.outage));
});

/** @param {Destination} destination */
const move = ([path, query]) => go(path, query, { saved: true });

/** @typedef {[path: string[], query?: Record<string, string | number | null | undefined>]} Destination */

/**
 * Does something and says that it is done, or why not. Then it leads to another page, if `to` names one: but only a
 * reader who is still on the page where he asked for it. This is the only way from an answer to another page.
 * @template T
 * @param {() => Promise<T>} action
 * @param {string | ((value: T) => string)} done what to say then
 * @param {object} [options]
 * @param {(value: T) => Destination} [options.to] where to go then
 * @param {() => boolean} [options.wanted] whether the reader still wants to go there
 * @param {(error: unknown) => void} [options.refused] what to do with an error, instead of saying it
 * @returns {Promise<T | undefined>}
 */
export async function act(action, done, { to, wanted, refused = complain } = {}) {
  const stays = here();
  try {
    const value = await action();
    say(typeof done === "string" ? done : done(value));
    if (to && stays() && (wanted?.() ?? true)) move(to(value));
    return value;
  } catch (error) {
    refused(error);
    return undefined;
  }
}

export function Toasts() {
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${toasts.value.map(
        (toast) => html`
          <div key=${toast.id} class=${cx("toast", toast.bad && "bad")} role=${toast.bad ? "alert" : undefined}>
            <${Icon} name=${toast.bad ? "failed" : "check"} />
            <span dir="auto">${toast.text}</span>
            <button class="plain" aria-label=${t("shell.dismiss")} onClick=${() => dismiss(toast.id)}>
              <${Icon} name="close" />
            </button>
          </div>
        `,
      )}
    </div>
  `;
}
