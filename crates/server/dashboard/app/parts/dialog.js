// Dialogs. The browser's own <dialog> keeps the focus inside, closes on Escape and gives the focus back.

import { effect, html, signal, useEffect, useId, useRef, useState } from "../lib/html.js";
import { here, route } from "../lib/router.js";
import { t } from "../lib/text.js";
import { Icon } from "./icon.js";
import { mayLose, useUnsaved } from "./unsaved.js";

/**
 * A dialog that is open as long as it is there. A button with `data-close` in it closes it.
 * @param {{title: string, onClose: () => void, wide?: boolean, unsaved?: boolean, children?: import("../lib/html.js").Children}} props unsaved: whether something is lost when it closes, which is asked about
 */
export function Dialog({ title, onClose, wide, unsaved = false, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const label = useId();
  useEffect(() => {
    dialog.current?.showModal();
    /** @type {HTMLElement | null | undefined} */ (
      dialog.current?.querySelector("[autofocus], input, textarea, select, footer button")
    )?.focus();
  }, []);
  useUnsaved(unsaved);
  const leave = async () => {
    if (!unsaved || (await mayLose())) onClose();
  };
  const escaped = (/** @type {Event} */ event) => {
    if (event.target !== dialog.current || !unsaved) return;
    event.preventDefault();
    void leave();
  };
  const closed = (/** @type {Event} */ event) => {
    if (event.target !== dialog.current) return;
    // A browser closes it at the second Escape, asked or not.
    if (unsaved) dialog.current?.showModal();
    void leave();
  };
  return html`
    <dialog
      ref=${dialog}
      class=${wide ? "wide" : ""}
      aria-labelledby=${label}
      onCancel=${escaped}
      onClose=${closed}
      onClick=${(/** @type {MouseEvent} */ event) =>
        (event.target === dialog.current || /** @type {HTMLElement} */ (event.target).closest("[data-close]")) && leave()}
    >
      <div class="dialog">
        <header>
          <h2 id=${label}>${title}</h2>
          <button type="button" class="plain" aria-label=${t("shell.close")} data-close>
            <${Icon} name="close" />
          </button>
        </header>
        ${children}
      </div>
    </dialog>
  `;
}

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {import("../lib/html.js").Children} [body]
 * @property {string} action the word on the button
 * @property {boolean} [danger] whether what is lost is lost
 * @property {string} [typed] what must be typed first
 */

/** @type {import("../vendor/signals.js").Signal<(Question & {answer: (yes: boolean) => void, stays: () => boolean}) | null>} */
const asked = signal(/** @type {any} */ (null));

// A question is one of its page: a reader who leaves has answered no.
effect(() => {
  void route.value;
  const question = asked.peek();
  if (question && !question.stays()) question.answer(false);
});

/** Asks before something is done; a question that stands already is answered with no. @param {Question} question @returns {Promise<boolean>} */
export function confirm(question) {
  asked.peek()?.answer(false);
  const stays = here();
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      stays,
      answer: (yes) => {
        asked.value = null;
        resolve(yes);
      },
    };
  });
}

/**
 * A text that has to be typed before something is done that cannot be undone.
 *
 * @param {{typed: string, text: string, onText: (text: string) => void, autofocus?: boolean}} props
 */
export function TypeToConfirm({ typed, text, onText, autofocus }) {
  return html`
    <label class="field">
      <span>
        ${t("shell.type-to-confirm")}${" "}
        <code dir="auto">${typed}</code>
      </span>
      <input
        autofocus=${autofocus}
        value=${text}
        autocomplete="off"
        spellcheck=${false}
        onInput=${(/** @type {any} */ event) => onText(event.target.value)}
      />
    </label>
  `;
}

/** The question that is asked now. */
export function Questions() {
  const question = asked.value;
  return (question && html`<${Ask} key=${question.title} question=${question} />`);
}

/** @param {{question: Question & {answer: (yes: boolean) => void}}} props */
function Ask({ question: { title, body, action, danger, typed, answer } }) {
  const [text, setText] = useState("");
  const ready = !typed || text === typed;
  return html`
    <${Dialog} title=${title} onClose=${() => answer(false)}>
      <form method="dialog" onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), ready && answer(true))}>
        ${body && html`<div class="dialog-text">${body}</div>`}
        ${typed && html`<${TypeToConfirm} typed=${typed} text=${text} onText=${setText} autofocus />`}
        <footer>
          <button type="button" onClick=${() => answer(false)} autofocus=${!typed}>${t("shell.cancel")}</button>
          <button type="submit" class=${danger ? "danger" : "primary"} disabled=${!ready}>${action}</button>
        </footer>
      </form>
    </${Dialog}>
  `;
}
