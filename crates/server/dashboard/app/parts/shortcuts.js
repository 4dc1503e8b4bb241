// The shortcuts that work everywhere, and the list of all that work now.

import { effect, html, signal, useEffect } from "../lib/html.js";
import { access } from "../lib/api.js";
import { bind, shortcuts } from "../lib/keys.js";
import { go, route } from "../lib/router.js";
import { t } from "../lib/text.js";
import { flip } from "../lib/theme.js";
import { PAGES } from "../pages/index.js";
import { Dialog } from "./dialog.js";
import { openPalette } from "./palette.js";

const shown = signal(false);

// The list is of the keys of a page, so it goes with it.
effect(() => {
  void route.value;
  shown.value = false;
});

export const openHelp = () => {
  shown.value = true;
};

/** Binds them as long as the shell is there. */
export function useShortcuts() {
  useEffect(
    () =>
      bind([
        { keys: "Ctrl-K", label: "shell.palette", run: openPalette },
        { keys: "?", label: "shell.shortcuts", run: openHelp },
        {
          keys: "/",
          label: "shell.focus-filter",
          run: () =>
            /** @type {HTMLElement | null} */ (
              document.querySelector("main [type=search], main input, main select")
            )?.focus(),
        },
        {
          keys: "j",
          label: "shell.first-row",
          run: () => /** @type {HTMLElement | null} */ (document.querySelector("main tbody tr"))?.focus(),
        },
        { keys: "d", label: "shell.theme", run: flip },
        ...PAGES.filter((page) => page.key && (page.shown?.() ?? true)).map((page) => ({
          keys: `g ${page.key}`,
          label: `${page.nav}.title`,
          run: () => go(page.path.split("/").filter(Boolean)),
        })),
      ]),
    [access.value],
  );
}

export function Help() {
  if (!shown.value) return null;
  return html`
    <${Dialog} title=${t("shell.shortcuts")} onClose=${() => (shown.value = false)}>
      <dl class="shortcuts">
        ${shortcuts.value.map(
          ({ keys, label }) => html`
            <div key=${keys}>
              <dt>${t(label)}</dt>
              <dd>
                ${keys.split(" ").map((key) => html`<kbd>${key}</kbd>`)}
              </dd>
            </div>
          `,
        )}
        <div>
          <dt>${t("shell.rows")}</dt>
          <dd>
            <kbd>↑</kbd>
            <kbd>↓</kbd>
          </dd>
        </div>
        <div>
          <dt>${t("shell.open-row")}</dt>
          <dd><kbd>Enter</kbd></dd>
        </div>
      </dl>
    </${Dialog}>
  `;
}
