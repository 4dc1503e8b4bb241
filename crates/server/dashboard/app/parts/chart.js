// Curves over time: a sparkline of a few strokes, and a chart to look into.

import { html, useEffect, useRef } from "../lib/html.js";
import { dark } from "../lib/theme.js";
import { language, locale, short } from "../lib/text.js";
import uPlot from "../vendor/uplot.js";

/**
 * A curve without axes; its label says what it shows to those who do not see it.
 * @param {{values: number[], label: string, tone?: string}} props
 */
export function Sparkline({ values, label, tone = values.some(Boolean) ? "accent" : "quiet" }) {
  const [width, height] = [96, 24];
  const most = Math.max(1, ...values);
  const x = (/** @type {number} */ index) => (index / Math.max(1, values.length - 1)) * width;
  const points = values.map(
    (value, index) => `${x(index).toFixed(1)},${(height - 1.5 - (value / most) * (height - 3)).toFixed(1)}`,
  );
  return html`
    <svg
      class=${`sparkline ${tone}`}
      viewBox=${`0 0 ${width} ${height}`}
      role="img"
      aria-label=${label}
      preserveAspectRatio="none"
    >
      <path class="area" d=${`M0,${height}L${points.join("L")}L${width},${height}Z`} />
      <polyline points=${points.join(" ")} />
    </svg>
  `;
}

/**
 * @typedef {object} Curve
 * @property {string} label
 * @property {string} tone the name of a colour, `--tone-…`
 * @property {number[]} values
 */

/** A colour of the style sheet as a canvas takes it. @param {HTMLElement} box @param {string} name */
function colour(box, name) {
  box.style.color = `var(${name})`;
  const { color } = getComputedStyle(box);
  box.style.color = "";
  return color;
}

/**
 * Curves over one axis of time.
 * @param {{label: string, times: number[], curves: Curve[], height?: number}} props times in Unix seconds
 */
export function Chart({ label, times, curves, height = 180 }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const plot = useRef(/** @type {any} */ (null));
  const names = curves.map((curve) => curve.label).join();
  const look = `${dark.value} ${language.value} ${names}`;

  useEffect(() => {
    const box = place.current;
    if (!box) return undefined;
    const axis = {
      stroke: colour(box, "--chart-text"),
      font: `11px ${getComputedStyle(box).fontFamily}`,
      grid: { stroke: colour(box, "--chart-grid"), width: 1 },
      ticks: { show: false },
    };
    const clock = new Intl.DateTimeFormat(locale.value, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    plot.current = new uPlot(
      {
        width: box.clientWidth,
        height,
        padding: [8, 8, 0, 0],
        cursor: { y: false, points: { size: 6 } },
        legend: { live: true },
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((at) => clock.format(at * 1000)), space: 64, size: 28 },
          {
            ...axis,
            size: 44,
            values: (_, ticks) =>
              ticks.map((value) => (Number.isInteger(value) || value < 10 ? short(value) : short(Math.round(value)))),
          },
        ],
        series: [
          { label: "", value: (_, at) => (at === null ? "–" : clock.format(at * 1000)) },
          ...curves.map((curve) => ({
            label: curve.label,
            stroke: colour(box, `--tone-${curve.tone}`),
            width: 1.5,
            points: { show: false },
            // Where nobody points the last of them stands.
            value: (/** @type {any} */ plot, /** @type {number | null} */ value, /** @type {number} */ index) =>
              short(Math.round((value ?? plot.data[index]?.at(-1) ?? 0) * 10) / 10),
          })),
        ],
      },
      /** @type {any} */ ([times, ...curves.map((curve) => curve.values)]),
      box,
    );
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: box.clientWidth, height }));
    observer.observe(box);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [look, height]);

  useEffect(() => {
    plot.current?.setData([times, ...curves.map((curve) => curve.values)]);
  }, [times, curves, look]);

  return html`<div class="chart" ref=${place} role="img" aria-label=${label}></div>`;
}
