// Forms: a labelled field with a hint and what is wrong with it.

import { cx, html, useId } from "../lib/html.js";

/**
 * A field with its label. `children` is given the id its control must have.
 * @param {{label: string, hint?: any, wrong?: string | null, wide?: boolean, children: (id: string, described: string | undefined) => any}} props
 */
export function Field({ label, hint, wrong, wide, children }) {
  const id = useId();
  const described = hint || wrong ? `${id}-hint` : undefined;
  return html`
    <div class=${cx("field", wide && "wide")}>
      <label for=${id}>${label}</label>
      ${children(id, described)}
      ${
        (wrong || hint) &&
        html`<small id=${described} class=${wrong ? "wrong" : "muted"} dir="auto">${wrong || hint}</small>`
      }
    </div>
  `;
}

/**
 * @param {{label: string, value: string, onInput: (value: string) => void, hint?: any, wrong?: string | null, wide?: boolean,
 *   type?: string, placeholder?: string, disabled?: boolean, required?: boolean, rows?: number, code?: boolean}} props
 */
export function Input({ label, value, onInput, hint, wrong, wide, rows, code, ...rest }) {
  const input = (/** @type {any} */ event) => onInput(event.target.value);
  return html`
    <${Field} label=${label} hint=${hint} wrong=${wrong} wide=${wide}>
      ${(/** @type {string} */ id, /** @type {string | undefined} */ described) =>
        rows
          ? html`
              <textarea
                id=${id}
                class=${code ? "code" : ""}
                rows=${rows}
                value=${value}
                aria-describedby=${described}
                aria-invalid=${!!wrong}
                onInput=${input}
                spellcheck=${!code}
                dir="auto"
                ...${rest}
              ></textarea>
            `
          : html`
              <input
                id=${id}
                class=${code ? "code" : ""}
                value=${value}
                aria-describedby=${described}
                aria-invalid=${!!wrong}
                onInput=${input}
                autocomplete="off"
                spellcheck=${false}
                ...${rest}
              />
            `}
    </${Field}>
  `;
}

/**
 * @param {{label: string, value: string, options: [string, string][], onInput: (value: string) => void, hint?: any, wide?: boolean, disabled?: boolean}} props
 */
export function Select({ label, value, options, onInput, hint, wide, ...rest }) {
  return html`
    <${Field} label=${label} hint=${hint} wide=${wide}>
      ${(/** @type {string} */ id, /** @type {string | undefined} */ described) => html`
        <select
          id=${id}
          value=${value}
          aria-describedby=${described}
          onChange=${(/** @type {any} */ event) => onInput(event.target.value)}
          ...${rest}
        >
          ${options.map(
            ([name, text]) => html`<option key=${name} value=${name} selected=${name === value}>${text}</option>`,
          )}
        </select>
      `}
    </${Field}>
  `;
}
