// Times: absolute in the viewer's zone and relative to now. One clock ticks for all that is on screen.

import { computed, signal } from "./html.js";
import { locale, t } from "./text.js";

const TICK_MS = 1000;

/** The server's clock against ours; it may be a movable one. */
const offset = signal(0);

/** Now, on the server, to the second. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now() + offset.value;
}, TICK_MS);

/** Learns what time the server says it is. @param {string} time */
export function setClock(time) {
  const apart = Date.parse(time) - Date.now();
  // Less is the time the answer took.
  offset.value = Math.abs(apart) > 2000 ? apart : 0;
  now.value = Date.now() + offset.value;
}

const formats = computed(() => {
  const make = (/** @type {Intl.DateTimeFormatOptions} */ options) => new Intl.DateTimeFormat(locale.value, options);
  const clock = /** @type {const} */ ({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  return {
    clock: make(clock),
    day: make({ month: "short", day: "numeric", ...clock }),
    year: make({ year: "numeric", month: "short", day: "numeric", ...clock }),
    full: make({ dateStyle: "full", timeStyle: "long", hourCycle: "h23" }),
    relative: new Intl.RelativeTimeFormat(locale.value, { numeric: "always", style: "short" }),
  };
});

/** A moment as short as it is clear: without the date if it is today. @param {number} at */
export function absolute(at) {
  const [date, today] = [new Date(at), new Date(now.peek())];
  if (date.toDateString() === today.toDateString()) return formats.value.clock.format(date);
  return (date.getFullYear() === today.getFullYear() ? formats.value.day : formats.value.year).format(date);
}

/** All there is to say of a moment: in the viewer's zone, and in UTC. @param {number} at */
export const full = (at) => `${formats.value.full.format(at)}\n${new Date(at).toISOString()} (UTC)`;

const DAY_MS = 86_400_000;

/** From how long on a unit is used, and its length. @type {[number, number, Intl.RelativeTimeFormatUnit][]} */
const UNITS = [
  [730 * DAY_MS, 365.25 * DAY_MS, "year"],
  [90 * DAY_MS, 30.44 * DAY_MS, "month"],
  [DAY_MS, DAY_MS, "day"],
  [3_600_000, 3_600_000, "hour"],
  [60_000, 60_000, "minute"],
  [0, 1000, "second"],
];

/** How long ago, or in how long. @param {number} at @param {number} from */
export function relative(at, from) {
  const apart = at - from;
  if (Math.abs(apart) < 1500) return t("shell.now");
  const [, size, unit] = UNITS.find(([least]) => Math.abs(apart) >= least) ?? [0, 1000, "second"];
  return formats.value.relative.format(Math.trunc(apart / size), unit);
}

/** A length of time in seconds, in at most two units: `1h 30m`. @param {number} seconds */
export function duration(seconds) {
  const unit = (/** @type {[number, string]} */ [n, name]) => t(`unit.${name}`, { n });
  if (seconds < 1) return unit([Math.round(seconds * 1000), "ms"]);
  if (seconds < 60) return unit([Math.round(seconds * 10) / 10, "s"]);
  /** @type {[number, string][]} */
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [Math.floor(seconds % 60), "s"],
  ];
  const first = parts.findIndex(([n]) => n);
  return parts.slice(first, first + 2).filter(([n]) => n).map(unit).join(" ");
}
