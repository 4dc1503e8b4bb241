// Local times of any zone, and where its clock is changed.

const MINUTE = 60_000;
const DAY = 86_400_000;

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {string} zone */
function format(zone) {
  let found = formats.get(zone);
  if (!found) {
    const options = /** @type {const} */ ({ hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" });
    try {
      found = new Intl.DateTimeFormat("en", { ...options, timeZone: zone });
    } catch {
      // A zone that the browser does not know reads as UTC.
      found = new Intl.DateTimeFormat("en", { ...options, timeZone: "UTC" });
    }
    formats.set(zone, found);
  }
  return found;
}

/** The viewer's own zone. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What clocks in a zone show at a moment, as if it were UTC. @param {string} zone @param {number} at @returns {number} */
export function wallClock(zone, at) {
  const parts = Object.fromEntries(format(zone).formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day, parts.hour, parts.minute, parts.second);
}

/** How far a zone's clocks are ahead of UTC at a moment, in minutes. @param {string} zone @param {number} at */
export const offset = (zone, at) => Math.round((wallClock(zone, at) - Math.floor(at / 1000) * 1000) / MINUTE);

/** The moment at which clocks in a zone show a time; the first, if they do twice. @param {string} zone @param {number} wall */
export function moment(zone, wall) {
  const before = wall - offset(zone, wall - DAY) * MINUTE;
  return wallClock(zone, before) === wall ? before : wall - offset(zone, wall + DAY) * MINUTE;
}

/** By how many minutes clocks are put forward on a day, which is given as its midnight. @param {string} zone @param {number} wall */
export const clockChange = (zone, wall) => offset(zone, moment(zone, wall + DAY)) - offset(zone, moment(zone, wall));

/** The date clocks show, such as `2026-11-15`. @param {string} zone @param {number} at */
export const localDate = (zone, at) => new Date(wallClock(zone, at)).toISOString().slice(0, 10);

/** The time of day clocks show, seconds only if there are some. @param {string} zone @param {number} at */
export const localClock = (zone, at) => shortClock(new Date(wallClock(zone, at)).toISOString().slice(11, 19));

/** `09:30` of `09:30:00`. @param {string} clock */
export const shortClock = (clock) => clock.replace(/^(\d\d:\d\d):00$/, "$1");
