// A moment, absolute in the viewer's zone and relative to now, with UTC on hover; and lengths of time.

import { html } from "../lib/html.js";
import { absolute, duration, full, now, relative } from "../lib/clock.js";

/**
 * @param {{at: string | null | undefined, only?: "absolute" | "relative"}} props
 */
export function Time({ at, only }) {
  const ms = at ? Date.parse(at) : NaN;
  if (Number.isNaN(ms))
    return html`<span class="muted">–</span>`;
  return html`
    <time datetime=${at} title=${full(ms)} class="time">
      ${only !== "relative" && html`<span>${absolute(ms)}</span>`}
      ${only !== "absolute" && html`<span class=${only ? "" : "muted"}>${relative(ms, now.value)}</span>`}
    </time>
  `;
}

/** @param {{seconds: number | null | undefined}} props */
export function Duration({ seconds }) {
  if (seconds === null || seconds === undefined)
    return html`<span class="muted">–</span>`;
  return html`<span class="number">${duration(seconds)}</span>`;
}
