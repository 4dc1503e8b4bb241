// The queue that a list is about: chosen from those there are, kept in the address bar.

import { html, useEffect, useState } from "../lib/html.js";
import { useResource } from "../lib/resource.js";
import { filter } from "../lib/router.js";
import { t } from "../lib/text.js";
import { Field } from "./form.js";

/** @param {{queue: string}} props what the address says; empty: all of them */
export function QueueField({ queue }) {
  const queues = useResource("/v1/queues?limit=1000", { types: ["queue.changed"] });
  const [text, setText] = useState(queue);
  useEffect(() => setText(queue), [queue]);
  const choose = () => text !== queue && filter({ queue: text, cursor: null });
  return html`
    <${Field} label=${t("shell.queue")}>
      ${(/** @type {string} */ id) => html`
        <input
          id=${id}
          type="search"
          list="queue-names"
          value=${text}
          placeholder=${t("shell.all-queues")}
          autocomplete="off"
          spellcheck=${false}
          onInput=${(/** @type {any} */ event) => setText(event.target.value)}
          onChange=${choose}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && choose()}
        />
        <datalist id="queue-names">
          ${queues.data?.items.map((/** @type {any} */ item) => html`<option key=${item.name} value=${item.name} />`)}
        </datalist>
      `}
    </${Field}>
  `;
}
