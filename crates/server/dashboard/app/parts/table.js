// Tables: arrow keys (or j and k) move between rows, Enter opens one. On a phone every row becomes a card.

import { cx, html, useRef } from "../lib/html.js";
import { Icon } from "./icon.js";
import { t } from "../lib/text.js";

/**
 * @template T
 * @typedef {object} Column
 * @property {string} label
 * @property {(row: T) => any} cell
 * @property {"end"} [align] for numbers
 * @property {boolean} [wide] takes the room that is left
 * @property {boolean} [bare] without its label on a phone
 */

/**
 * @template T
 * @param {object} props
 * @param {string} props.label what the table is about, for those who do not see it
 * @param {Column<T>[]} props.columns
 * @param {T[]} props.rows
 * @param {(row: T) => string} props.rowKey
 * @param {any} [props.empty] what to say if there are no rows
 */
export function Table({ label, columns, rows, rowKey, empty }) {
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  if (rows.length === 0)
    return (
      empty ??
      html`<${Empty}>${t("shell.nothing")}</${Empty}>`
    );

  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const row = /** @type {HTMLElement} */ (event.target).closest("tr");
    if (!row || /** @type {HTMLElement} */ (event.target).closest("input, select, textarea")) return;
    const all = /** @type {HTMLElement[]} */ ([...(body.current?.children ?? [])]);
    const index = all.indexOf(row);
    /** @type {Record<string, HTMLElement | undefined>} */
    const moves = {
      ArrowDown: all[index + 1],
      j: all[index + 1],
      ArrowUp: all[index - 1],
      k: all[index - 1],
      Home: all[0],
      End: all.at(-1),
    };
    const to = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
    if (to) {
      event.preventDefault();
      to.focus();
    } else if (event.key === "Enter" && event.target === row) {
      row.querySelector("a")?.click();
    }
  };

  return html`
    <div class="table-scroll">
      <table aria-label=${label}>
        <thead>
          <tr>
            ${columns.map(
              (column) => html`<th scope="col" class=${cx(column.align, column.wide && "fill")}>${column.label}</th>`,
            )}
          </tr>
        </thead>
        <tbody ref=${body} onKeyDown=${onKeyDown}>
          ${rows.map(
            (row, index) => html`
              <tr key=${rowKey(row)} tabindex=${index === 0 ? 0 : -1}>
                ${columns.map(
                  (column) => html`
                    <td
                      class=${cx(column.align, column.wide && "fill")}
                      data-label=${column.bare ? undefined : capital(column.label)}
                    >
                      ${column.cell(row)}
                    </td>
                  `,
                )}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

/** A label as it begins a line. @param {string} label */
const capital = (label) => label.charAt(0).toUpperCase() + label.slice(1);

/** What is said where nothing is. @param {{icon?: string, children?: import("../lib/html.js").Children}} props */
export function Empty({ icon = "ring", children }) {
  return html`
    <div class="empty">
      <${Icon} name=${icon} />
      <p>${children}</p>
    </div>
  `;
}
