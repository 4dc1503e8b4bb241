// The rule of a plan in plain words.

import { absolute } from "./clock.js";
import { locale, t } from "./text.js";
import { localClock, shortClock } from "./zone.js";

/** A Sunday, to name the days of the week by. */
const SUNDAY = Date.UTC(2023, 0, 1);
const MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const DAYS = "SUN MON TUE WED THU FRI SAT".split(" ");

/** @param {number} day 0 for Sunday @param {"long" | "short"} [style] */
export const weekday = (day, style = "long") => new Intl.DateTimeFormat(locale.value, { weekday: style, timeZone: "UTC" }).format(SUNDAY + (day % 7) * 86_400_000);

/** @param {number} month from 1 */
const monthName = (month) => new Intl.DateTimeFormat(locale.value, { month: "long", timeZone: "UTC" }).format(Date.UTC(2023, month - 1, 15));

/** @param {number} n */
function ordinal(n) {
  const kind = new Intl.PluralRules("en", { type: "ordinal" }).select(n);
  return t(`plans.ordinal.${kind}`, { n });
}

/** @param {string[]} words */
const list = (words) => words.join(t("plans.and"));

/**
 * What a rule says.
 * @param {any} plan
 * @returns {string}
 */
export function ruleWords(plan) {
  const { plan_type: type, plan_value: value, plan_time: time, plan_repet: repeat, timezone: zone = "UTC" } = plan;
  const words = when(type, Number(value), time, zone || "UTC", plan.cron ?? "");
  const local = ["day", "week", "month", "cron"].includes(type) && zone && zone !== "UTC";
  const often = type !== "none" && type !== "time" && repeat > 0;
  return words + (local ? t("plans.rule.zone", { zone }) : "") + (often ? t("plans.rule.often", { n: repeat }) : "");
}

/** @param {string} type @param {number} n @param {any} time @param {string} zone @param {string} cron */
function when(type, n, time, zone, cron) {
  const base = time && !/^\d\d:/.test(time) ? Date.parse(time) : NaN;
  const clock = Number.isNaN(base) ? shortClock(time || "00:00") : localClock(zone, base);
  switch (type) {
    case "time": return t("plans.rule.time", { time: Number.isNaN(base) ? "…" : absolute(base) });
    case "second": case "minute": case "hour": return t(`plans.rule.${type}`, { n });
    case "day": return Number.isNaN(base) ? t("plans.rule.day", { n }) : t("plans.rule.day-at", { n, clock });
    case "week": return t("plans.rule.week", { day: weekday(n), clock });
    case "month":
      if (n === 0) return t("plans.rule.month-last", { clock });
      return n < 0 ? t("plans.rule.month-before", { n: -n, clock }) : t(n > 28 ? "plans.rule.month-or-last" : "plans.rule.month", { nth: ordinal(n), clock });
    case "cron": return cronWords(cron) ?? t("plans.rule.cron", { cron });
    default: return t("plans.rule.none");
  }
}

/** @param {string} text @param {string[]} [names] @returns {number} */
const plain = (text, names = []) => (names.includes(text.toUpperCase()) ? names.indexOf(text.toUpperCase()) : /^\d+$/.test(text) ? Number(text) : NaN);
const two = (/** @type {number} */ n) => String(n).padStart(2, "0");

/** A cron pattern in words, if it is one of the usual kind. @param {string} cron @returns {string | null} */
function cronWords(cron) {
  const fields = cron.trim().split(/\s+/);
  const [second = "", minute = "", hour = "", day = "", month = "", week = ""] = fields.length === 5 ? ["0", ...fields] : fields;
  const [time, days, months] = [cronTime(second, minute, hour), cronDays(day, week), cronMonths(month)];
  if (time === null || days === null || months === null) return null;
  const words = time.often && !days && !months ? time.words : t("plans.cron.whole", { time: time.words, days: days || t("plans.cron.daily"), months });
  return words.trim().replace(/\s+/g, " ").replace(/^./, (first) => first.toUpperCase());
}

/** @param {string} second @param {string} minute @param {string} hour @returns {{words: string, often: boolean} | null} */
function cronTime(second, minute, hour) {
  const step = (/** @type {string} */ field) => (field === "*" ? 1 : Number(field.match(/^(?:\*|0)\/(\d+)$/)?.[1] ?? NaN));
  if (minute === "*" && hour === "*" && step(second) > 0) return { words: t("plans.cron.seconds", { n: step(second) }), often: true };
  if (second !== "0") {
    const [s, m, h] = [plain(second), plain(minute), plain(hour)];
    return Number.isNaN(s + m + h) ? null : { words: t("plans.cron.at", { clock: `${two(h)}:${two(m)}:${two(s)}` }), often: false };
  }
  const every = step(minute);
  if (every > 0 && hour === "*") return { words: t("plans.cron.minutes", { n: every }), often: true };
  const span = hour.match(/^(\d+)-(\d+)$/);
  if (every > 0 && span) return { words: t("plans.cron.between", { often: t("plans.cron.minutes", { n: every }), from: `${two(Number(span[1]))}:00`, to: `${two(Number(span[2]))}:59` }), often: false };
  const m = plain(minute);
  if (Number.isNaN(m)) return null;
  if (step(hour) > 0) return { words: t("plans.cron.hours", { n: step(hour), minute: two(m) }), often: true };
  if (span) return { words: t("plans.cron.between", { often: t("plans.cron.hours", { n: 1, minute: two(m) }), from: `${two(Number(span[1]))}:${two(m)}`, to: `${two(Number(span[2]))}:${two(m)}` }), often: false };
  const hours = hour.split(",").map((text) => plain(text));
  return hours.some(Number.isNaN) ? null : { words: t("plans.cron.at", { clock: list(hours.map((h) => `${two(h)}:${two(m)}`)) }), often: false };
}

/** @param {string} day @param {string} week @returns {string | null} */
function cronDays(day, week) {
  const [a, b] = [cronDay(day), cronWeekday(week)];
  if (a === null || b === null) return null;
  return a && b ? t("plans.cron.or", { a, b }) : a || b;
}

/** @param {string} field @returns {string | null} */
function cronDay(field) {
  if (field === "*" || field === "?") return "";
  if (field === "L") return t("plans.cron.last-day");
  const days = field.split(",").map((text) => plain(text));
  return days.some(Number.isNaN) ? null : t("plans.cron.days", { days: list(days.map(ordinal)) });
}

/** @param {string} field @returns {string | null} */
function cronWeekday(field) {
  if (field === "*" || field === "?") return "";
  const name = (/** @type {string} */ text) => (Number.isNaN(plain(text, DAYS)) ? null : weekday(plain(text, DAYS)));
  const last = field.match(/^(\w+?)L$/i);
  if (last?.[1] && name(last[1])) return t("plans.cron.last-weekday", { day: name(last[1]) });
  const nth = field.match(/^(\w+)#(\d)$/);
  if (nth?.[1] && name(nth[1])) return t("plans.cron.nth-weekday", { nth: ordinal(Number(nth[2])), day: name(nth[1]) });
  const parts = field.split(",").map((part) => {
    const [from = "", to] = part.split("-").map(name);
    return to === undefined ? from : from && to ? t("plans.cron.range", { from, to }) : null;
  });
  return parts.some((part) => !part) ? null : t("plans.cron.weekdays", { days: list(/** @type {string[]} */ (parts)) });
}

/** @param {string} field @returns {string | null} */
function cronMonths(field) {
  if (field === "*") return "";
  const months = field.split(",").map((text) => (MONTHS.includes(text.toUpperCase()) ? MONTHS.indexOf(text.toUpperCase()) + 1 : plain(text)));
  return months.some(Number.isNaN) ? null : t("plans.cron.months", { months: list(months.map(monthName)) });
}
