// How long each phase of a request took: look-up, connection, encryption, first byte, answer.

import { html } from "../lib/html.js";
import { duration } from "../lib/clock.js";
import { t } from "../lib/text.js";

/** The phases that took any time, in seconds. @param {any} exchange @returns {[string, number][]} */
function phasesOf(exchange) {
  const set = /** @type {[string, number][]} */ (["dns", "connect", "tls"].map((name) => [name, exchange[name] ?? 0]));
  const before = set.reduce((sum, [, seconds]) => sum + seconds, 0);
  const answered = exchange.first_byte !== null;
  const wait = (answered ? exchange.first_byte : exchange.total) - before;
  const read = answered ? exchange.total - exchange.first_byte : 0;
  return /** @type {[string, number][]} */ ([...set, ["wait", wait], ["read", read]]).filter(
    ([, seconds]) => seconds > 0,
  );
}

/**
 * A bar, and with a legend what each part of it is.
 * @param {{exchange: any, legend?: boolean}} props
 */
export function Phases({ exchange, legend }) {
  const phases = phasesOf(exchange);
  const total = exchange.total || 0.001;
  const words = phases.map(([name, seconds]) => `${t(`tasks.phase.${name}`)} ${duration(seconds)}`).join(", ");
  return html`
    <div class="phases" role="img" aria-label=${words} title=${words}>
      ${phases.map(
        ([name, seconds]) => html`
          <span key=${name} class=${`phase ${name}`} style=${{ flexGrow: Math.max(0.02, seconds / total) }}></span>
        `,
      )}
    </div>
    ${
      legend &&
      html`
        <ul class="phase-legend">
          ${phases.map(
            ([name, seconds]) => html`
              <li key=${name}>
                <span class=${`phase ${name}`}></span>
                ${t(`tasks.phase.${name}`)}${" "}
                <span class="number muted">${duration(seconds)}</span>
              </li>
            `,
          )}
        </ul>
      `
    }
  `;
}
