// Edits that are not saved: a reader is asked before they are lost, whichever way he leaves.

import { useEffect } from "../lib/html.js";
import { block } from "../lib/router.js";
import { t } from "../lib/text.js";
import { confirm } from "./dialog.js";

/** Asks whether edits may be lost. */
export const mayLose = () =>
  confirm({
    title: t("shell.unsaved-title"),
    body: t("shell.unsaved-text"),
    action: t("shell.unsaved-leave"),
    danger: true,
  });

/** Asks before another page is gone to, or the tab is closed, while there is something to lose. @param {boolean} unsaved */
export function useUnsaved(unsaved) {
  useEffect(() => {
    if (!unsaved) return undefined;
    const free = block(mayLose);
    const warn = (/** @type {Event} */ event) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => {
      free();
      removeEventListener("beforeunload", warn);
    };
  }, [unsaved]);
}
