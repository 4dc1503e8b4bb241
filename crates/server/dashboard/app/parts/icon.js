// Icons: strokes on a grid of 16, drawn in the colour of the text beside them.

import { html } from "../lib/html.js";

/** @type {Record<string, string>} */
const PATHS = {
  overview: "M2 13V8m4 5V3m4 10V6m4 7V9",
  queues: "M2 4h12M2 8h12M2 12h8",
  tasks: "M3 3.5h10v9H3zM5.5 8l1.7 1.7L10.8 6",
  failed: "M8 2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.2",
  plans: "M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2.2v3M10.5 2.2v3",
  flows: "M3 3h3.5v3.5H3zM9.5 9.5H13V13H9.5zM4.75 6.5v2.75a2 2 0 0 0 2 2H9.5",
  workers: "M8 8.2a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM3 13.5c.5-2.6 2.5-4 5-4s4.5 1.4 5 4",
  bundles: "M8 1.8 13.5 4.7v6.6L8 14.2l-5.5-2.9V4.7zM2.5 4.7 8 7.6l5.5-2.9M8 7.6v6.6",
  deliveries: "M14 2 7 9M14 2 9.5 14 7 9 2 6.5z",
  system: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3 14 14",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  language: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 2 2.6 4 2.6 6S10 12 8 14C6 12 5.4 10 5.4 8S6 4 8 2z",
  key: "M6 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM7.8 8.2 13 3M11 5l1.5 1.5",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5 6.5 12 13 4.5",
  play: "M5 3.5v9l7-4.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  retry: "M13 8a5 5 0 1 1-1.7-3.7M13 2.5v3h-3",
  stop: "M4 4h8v8H4z",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.5",
  dot: "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  ring: "M8 13A5 5 0 1 0 8 3a5 5 0 0 0 0 10z",
  half: "M8 13A5 5 0 1 0 8 3a5 5 0 0 0 0 10zM8.6 4v8M10 4.6v6.8M11.4 5.8v4.4",
  hand: "M3 8h8M8 5l3 3-3 3",
  ban: "M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM4.1 4.1l7.8 7.8",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  edit: "M3 13l.7-3L11 2.7 13.3 5 6 12.3zM9.5 4.2l2.3 2.3",
  plus: "M8 3v10M3 8h10",
  right: "M6 3.5 10.5 8 6 12.5",
  left: "M10 3.5 5.5 8l4.5 4.5",
  down: "M3.5 6 8 10.5 12.5 6",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  settings:
    "M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM6 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z",
  help: "M6 6a2 2 0 1 1 2.8 1.8c-.6.3-.8.7-.8 1.4M8 11.6v.1M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  off: "M2 2l12 12M4.5 6.5A6 6 0 0 1 8 5.3M11.8 7A6 6 0 0 0 10 5.7M8 11.5h.01",
  skip: "M3.5 3.5v9L10 8zM12.5 3.5v9",
};

/** The strokes of an icon, for drawings. @param {string} name */
export const strokes = (name) => PATHS[name] ?? PATHS.dot;

/** @param {{name: string, label?: string}} props with a label it is read aloud, without it is decoration */
export function Icon({ name, label }) {
  return html`
    <svg
      class="icon"
      viewBox="0 0 16 16"
      role=${label ? "img" : undefined}
      aria-label=${label}
      aria-hidden=${label ? undefined : "true"}
    >
      <path d=${strokes(name)} />
    </svg>
  `;
}
