// The steps of a flow as a drawing. Every step is a link; arrow keys lead along the lines.

import { cx, html, useMemo, useState } from "../lib/html.js";
import { layout } from "../lib/layers.js";
import { t } from "../lib/text.js";
import { lookOf, wordFor } from "./badge.js";
import { strokes } from "./icon.js";

const [WIDE, HIGH] = [184, 46];
const CELL = { width: WIDE + 56, height: HIGH + 18 };
const MARGIN = 10;
const SCALES = [0.4, 0.55, 0.75, 1, 1.3];

/**
 * @param {object} props
 * @param {string} props.label
 * @param {{name: string, state: string, queue: string, after: string[]}[]} props.steps
 * @param {string} props.chosen
 * @param {(name: string) => string} props.link
 */
export function Graph({ label, steps, chosen, link }) {
  const shape = steps.map((step) => `${step.name}<${step.after.join()}`).join(";");
  const { places, width, height } = useMemo(() => layout(steps, CELL), [shape]);
  const [zoom, setZoom] = useState(width > 1080 || height > 900 ? 2 : 3);
  const scale = SCALES[zoom] ?? 1;
  const whole = [width - CELL.width + WIDE + 2 * MARGIN, height - CELL.height + HIGH + 2 * MARGIN];

  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const at = /** @type {Element} */ (event.target).closest("[data-step]")?.getAttribute("data-step");
    const here = steps.find((step) => step.name === at);
    const place = places.get(at ?? "");
    if (!here || !place) return;
    const beside = (/** @type {number} */ by) =>
      steps.find((step) => {
        const other = places.get(step.name);
        return other?.layer === place.layer && Math.abs(other.row - place.row - by) < 0.6;
      })?.name;
    const to = {
      ArrowLeft: here.after[0],
      ArrowRight: steps.find((step) => step.after.includes(here.name))?.name,
      ArrowUp: beside(-1),
      ArrowDown: beside(1),
    }[event.key];
    if (!to) return;
    event.preventDefault();
    /** @type {SVGElement | null} */ (
      /** @type {Element} */ (event.currentTarget).querySelector(`[data-step="${CSS.escape(to)}"]`)
    )?.focus();
  };

  return html`
    <div class="graph">
      <div class="graph-tools">
        <button
          class="small"
          aria-label=${t("flows.zoom-out")}
          title=${t("flows.zoom-out")}
          disabled=${zoom === 0}
          onClick=${() => setZoom(zoom - 1)}
        >
          −
        </button>
        <button
          class="small"
          aria-label=${t("flows.zoom-in")}
          title=${t("flows.zoom-in")}
          disabled=${zoom === SCALES.length - 1}
          onClick=${() => setZoom(zoom + 1)}
        >
          +
        </button>
      </div>
      <div class="graph-scroll">
        <svg
          role="group"
          aria-label=${label}
          width=${(whole[0] ?? 0) * scale}
          height=${(whole[1] ?? 0) * scale}
          viewBox=${`${-MARGIN} ${-MARGIN} ${whole.join(" ")}`}
          onKeyDown=${onKeyDown}
        >
          ${steps
            .flatMap((step) => step.after.map((before) => [places.get(before), places.get(step.name), before]))
            .map(
              ([from, to, before], index) =>
                from &&
                to &&
                html`
                  <path
                    key=${index}
                    class=${cx("edge", before === chosen && "chosen")}
                    d=${curve(/** @type {any} */ (from), /** @type {any} */ (to))}
                  />
                `,
            )}
          ${steps.map((step) => {
            const { x, y } = places.get(step.name) ?? { x: 0, y: 0 };
            const [tone, icon] = lookOf(step.state);
            return html`
              <a
                key=${step.name}
                data-step=${step.name}
                data-state=${step.state}
                href=${link(step.name)}
                class=${cx("node", tone, step.name === chosen && "chosen")}
                transform=${`translate(${x},${y})`}
              >
                <rect width=${WIDE} height=${HIGH} rx="8"><title>${step.name}</title></rect>
                <path class="icon" d=${strokes(icon)} transform="translate(11,15)" />
                <text class="node-name" x="36" y="20">${clip(step.name, 18)}</text>
                <text class="node-state" x="36" y="36">${wordFor(step.state)} · ${clip(step.queue, 12)}</text>
              </a>
            `;
          })}
        </svg>
      </div>
    </div>
  `;
}

/** @param {string} text @param {number} most */
const clip = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);

/** @param {{x: number, y: number}} from @param {{x: number, y: number}} to */
function curve(from, to) {
  const [x1, y1, x2, y2] = [from.x + WIDE, from.y + HIGH / 2, to.x, to.y + HIGH / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
