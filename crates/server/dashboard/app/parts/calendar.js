// A month with what happens on its days, in a zone of its own, and the days its clocks are changed.

import { cx, html, useState } from "../lib/html.js";
import { duration, now } from "../lib/clock.js";
import { locale, t } from "../lib/text.js";
import { clockChange, localClock, localDate } from "../lib/zone.js";
import { weekday } from "../lib/rule.js";
import { Icon } from "./icon.js";

const DAY = 86_400_000;
const SHOWN = 2;

/** By what minutes clocks are changed, in words. @param {number} minutes */
export const changeWords = (minutes) =>
  t(minutes > 0 ? "plans.clock-forward" : "plans.clock-back", { minutes: duration(Math.abs(minutes) * 60) });

/** The same where there is little room. @param {number} minutes */
const brief = (minutes) => (minutes % 60 ? `${minutes}m` : `${minutes / 60}h`);

/** @param {string[]} times @param {string} zone @returns {Map<string, number[]>} */
function byDay(times, zone) {
  /** @type {Map<string, number[]>} */
  const days = new Map();
  for (const time of times) {
    const at = Date.parse(time);
    const day = localDate(zone, at);
    days.set(day, [...(days.get(day) ?? []), at]);
  }
  return days;
}

/**
 * @param {object} props
 * @param {string} props.zone
 * @param {string[]} props.times when something is to happen
 * @param {boolean} props.more whether there are more times than these
 * @param {{at: string, bad: boolean}[]} [props.past] what has happened
 */
export function Calendar({ zone, times, more, past = [] }) {
  const [shift, setShift] = useState(0);
  const today = localDate(zone, now.value);
  const start = new Date(Date.UTC(Number(today.slice(0, 4)), Number(today.slice(5, 7)) - 1 + shift, 1));
  const first = start.getTime() - ((start.getUTCDay() + 6) % 7) * DAY;
  const title = new Intl.DateTimeFormat(locale.value, { year: "numeric", month: "long", timeZone: "UTC" }).format(
    start,
  );
  const coming = byDay(times, zone);
  const [good, bad] = [false, true].map((wanted) =>
    byDay(
      past.filter((run) => run.bad === wanted).map((run) => run.at),
      zone,
    ),
  );
  const last = times.at(-1);
  const known = more && last ? localDate(zone, Date.parse(last)) : "9999";
  const weeks = Array.from({ length: 6 }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => first + (week * 7 + day) * DAY),
  ).filter((week) => week.some((day) => new Date(day).getUTCMonth() === start.getUTCMonth()));
  const shown = weeks.flat().filter((day) => new Date(day).getUTCMonth() === start.getUTCMonth());
  const changes = shown.filter((day) => clockChange(zone, day));

  return html`
    <div class="calendar">
      <header>
        <button class="plain" aria-label=${t("plans.previous-month")} onClick=${() => setShift(shift - 1)}>
          <${Icon} name="left" />
        </button>
        <strong aria-live="polite">${title}</strong>
        <button class="plain" aria-label=${t("plans.next-month")} onClick=${() => setShift(shift + 1)}>
          <${Icon} name="right" />
        </button>
      </header>
      <table class="month" aria-label=${title}>
        <thead>
          <tr>
            ${[1, 2, 3, 4, 5, 6, 0].map(
              (day) => html`<th scope="col" abbr=${weekday(day)}>${weekday(day, "short")}</th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${weeks.map(
            (week) => html`
              <tr key=${week[0]}>
                ${week.map((day) => {
                  const date = new Date(day).toISOString().slice(0, 10);
                  if (new Date(day).getUTCMonth() !== start.getUTCMonth())
                    return html`<td class="outside"></td>`;
                  return html`
                    <${Day}
                      date=${date}
                      today=${today}
                      zone=${zone}
                      times=${coming.get(date) ?? []}
                      change=${clockChange(zone, day)}
                      good=${good?.get(date)?.length ?? 0}
                      bad=${bad?.get(date)?.length ?? 0}
                      unknown=${date > known}
                    />
                  `;
                })}
              </tr>
            `,
          )}
        </tbody>
      </table>
      ${changes.map(
        (day) => html`
          <p key=${day} class="calendar-note">
            <${Icon} name="clock" />
            ${new Intl.DateTimeFormat(locale.value, { month: "long", day: "numeric", timeZone: "UTC" }).format(day)}
            ${t("plans.colon")}
            ${changeWords(clockChange(zone, day))}
          </p>
        `,
      )}
      ${
        shown.some((day) => new Date(day).toISOString().slice(0, 10) > known) &&
        html`<p class="muted calendar-note">${t("plans.beyond")}</p>`
      }
      <p class="muted calendar-note">${t("plans.calendar-zone", { zone })}</p>
    </div>
  `;
}

/** @param {{date: string, today: string, zone: string, times: number[], change: number, good: number, bad: number, unknown: boolean}} props */
function Day({ date, today, zone, times, change, good, bad, unknown }) {
  const clocks = times.map((at) => localClock(zone, at));
  return html`
    <td
      class=${cx(date === today && "today", date < today && "past", unknown && "unknown", times.length > 0 && "busy")}
      aria-current=${date === today ? "date" : undefined}
      title=${clocks.slice(0, 40).join(" ")}
    >
      <div class="day-head">
        <span class="day-number">${Number(date.slice(8))}</span>
        ${
          change !== 0 &&
          html`
            <span class="day-change" title=${changeWords(change)}>
              <${Icon} name="clock" label=${changeWords(change)} />
              ${change > 0 ? "+" : "−"}${brief(Math.abs(change))}
            </span>
          `
        }
      </div>
      ${
        bad > 0 &&
        html`
          <span class="day-past bad" title=${t("plans.past-bad", { n: bad })}>
            <${Icon} name="failed" label=${t("plans.past-bad", { n: bad })} />
            ${bad}
          </span>
        `
      }
      ${
        good > 0 &&
        html`
          <span class="day-past good" title=${t("plans.past-ok", { n: good })}>
            <${Icon} name="check" label=${t("plans.past-ok", { n: good })} />
            ${good}
          </span>
        `
      }
      <span class="day-times">
        ${clocks.slice(0, clocks.length > SHOWN + 1 ? SHOWN : SHOWN + 1).map(
          (clock, index) => html`<span key=${index}>${clock.slice(0, 5)}</span>`,
        )}${clocks.length > SHOWN + 1 && html`<span class="muted">+${clocks.length - SHOWN}</span>`}
      </span>
      ${clocks.length > 0 && html`<span class="day-count" aria-hidden="true">${clocks.length}</span>`}
    </td>
  `;
}
