// Pages by cursor: on with what the server said, back the way we came.

import { html } from "../lib/html.js";
import { filter, route } from "../lib/router.js";
import { t } from "../lib/text.js";
import { Icon } from "./icon.js";

/** Where each cursor was reached from. @type {Map<string, string>} */
const cameFrom = new Map();

/** @param {{next: string | null | undefined, children?: import("../lib/html.js").Children}} props what is between the buttons */
export function Pager({ next, children }) {
  const cursor = route.value.query.get("cursor") ?? "";
  if (!cursor && !next && !children) return null;
  const forward = () => {
    cameFrom.set(next ?? "", cursor);
    filter({ cursor: next ?? null });
  };
  return html`
    <nav class="pager" aria-label=${t("shell.pages")}>
      <span class="muted">${children}</span>
      <button disabled=${!cursor} onClick=${() => filter({ cursor: cameFrom.get(cursor) || null })}>
        <${Icon} name="left" />
        ${t("shell.previous")}
      </button>
      <button disabled=${!next} onClick=${forward}>
        ${t("shell.next")}
        <${Icon} name="right" />
      </button>
    </nav>
  `;
}
