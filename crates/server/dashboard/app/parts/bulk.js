// One verb for all tasks that match a filter: counted first, done with a bar that says how far it is.

import { html, useEffect, useRef, useState } from "../lib/html.js";
import { api, url } from "../lib/api.js";
import { t } from "../lib/text.js";
import { Dialog, TypeToConfirm } from "./dialog.js";
import { Icon } from "./icon.js";
import { Progress } from "./progress.js";
import { complain, say } from "./toast.js";

/** More than this are removed only by who types the name of their queue. */
const TYPED_FROM = 100;

/** @typedef {{state?: string, tag?: string, id?: string, error?: string, q?: string, since?: string}} Filter */

/**
 * Goes through all that match, a thousand at a time.
 * @param {string} queue
 * @param {{verb: string, filter: Filter, dry_run?: boolean}} request
 * @param {(matched: number, changed: number) => void} heard
 * @param {AbortSignal} signal
 */
export async function bulk(queue, request, heard, signal) {
  let [matched, changed] = [0, 0];
  /** @type {string | null} */
  let cursor = null;
  do {
    /** @type {{matched: number, changed: number, next: string | null}} */
    const answer = await api.post(
      url`/v1/queues/${queue}/tasks/bulk`,
      { ...request, ...(cursor ? { cursor } : {}) },
      signal,
    );
    ((matched += answer.matched), (changed += answer.changed), (cursor = answer.next));
    heard(matched, changed);
  } while (cursor && !signal.aborted);
  return { matched, changed };
}

/**
 * @param {{queue: string, verb: string, filter: Filter, title: string, note?: string, action?: string, typed?: string, onClose: () => void}} props action: the word on the button, if it is not the verb's
 */
export function BulkDialog({ queue, verb, filter, title, note, action, typed: asked, onClose }) {
  const [count, setCount] = useState({ n: 0, known: false });
  const [done, setDone] = useState(/** @type {{matched: number, changed: number} | null} */ (null));
  const [text, setText] = useState("");
  const abort = useRef(new AbortController());
  const danger = verb === "clean" || verb === "cancel";
  const typed = asked ?? (verb === "clean" && count.n > TYPED_FROM ? queue : undefined);

  useEffect(() => {
    const { signal } = abort.current;
    bulk(queue, { verb, filter, dry_run: true }, (n) => setCount({ n, known: false }), signal).then(
      ({ matched }) => setCount({ n: matched, known: true }),
      (error) => signal.aborted || (complain(error), onClose()),
    );
    return () => abort.current.abort();
  }, []);

  const run = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setDone({ matched: 0, changed: 0 });
    try {
      const all = await bulk(
        queue,
        { verb, filter },
        (matched, changed) => setDone({ matched, changed }),
        abort.current.signal,
      );
      say(t("tasks.bulk-done", { n: all.changed }));
    } catch (error) {
      if (!abort.current.signal.aborted) complain(error);
    }
    onClose();
  };

  const ready = count.known && count.n > 0 && (!typed || text === typed);
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <form onSubmit=${run}>
        ${
          done
            ? html`
                <p role="status">${t("tasks.bulk-running", { n: done.changed, all: count.n })}</p>
                <${Progress} value=${count.n ? Math.min(1, done.matched / count.n) : 1} label=${title} />
              `
            : html`
                <p class="bulk-count" role="status">
                  <strong data-count=${count.n}>${t("tasks.bulk-count", { n: count.n })}</strong>
                  ${!count.known && html`<span class="muted">${" "}${t("tasks.bulk-counting")}</span>`}
                </p>
                ${note && html`<p class="muted">${note}</p>`}
                ${typed && html`<${TypeToConfirm} typed=${typed} text=${text} onText=${setText} />`}
              `
        }
        <footer>
          <button type="button" onClick=${onClose}>
            ${
              done
                ? html`
                    <${Icon} name="stop" />
                    ${t("tasks.bulk-stop")}
                  `
                : t("shell.cancel")
            }
          </button>
          ${
            !done &&
            html`
              <button type="submit" class=${danger ? "danger" : "primary"} disabled=${!ready}>
                ${action ?? t(`tasks.verb.${verb}`)}
              </button>
            `
          }
        </footer>
      </form>
    </${Dialog}>
  `;
}
