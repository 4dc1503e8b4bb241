// How far something is, from 0 to 1; without a value it is under way.

import { html } from "../lib/html.js";

/** @param {{value?: number | null, label: string}} props */
export function Progress({ value, label }) {
  const known = typeof value === "number";
  return html`
    <div class="progress">
      <progress max="1" value=${known ? value : undefined} aria-label=${label}></progress>
      ${known && html`<span class="number">${Math.floor(value * 100)} %</span>`}
    </div>
  `;
}
