// What is around every page: navigation, the state of the connection, language, light, token.

import { cx, html, signal, useEffect, useState } from "../lib/html.js";
import { access, enter, leave, locked, unlock, may } from "../lib/api.js";
import { connection, restart } from "../lib/live.js";
import { href, match, route } from "../lib/router.js";
import { LANGUAGES, language, speak, t } from "../lib/text.js";
import { dark, flip } from "../lib/theme.js";
import { PAGES } from "../pages/index.js";
import { Questions } from "./dialog.js";
import { Input } from "./form.js";
import { Icon } from "./icon.js";
import { Palette, openPalette } from "./palette.js";
import { Help, useShortcuts } from "./shortcuts.js";
import { Empty } from "./table.js";
import { Loaded } from "./view.js";
import { Toasts, complain } from "./toast.js";

const menu = signal(false);

export function Shell() {
  useShortcuts();
  const [error, setError] = useState(/** @type {import("../lib/api.js").ApiError | undefined} */ (undefined));
  const refresh = () => void enter().then(() => setError(undefined), setError);
  useEffect(refresh, []);
  if (locked.value)
    return html`
      <${Gate} />
      <${Toasts} />
    `;
  if (!access.value)
    return html`<main class="gate"><${Loaded} from=${{ data: undefined, last: undefined, error, loading: !error, refresh }} /></main>`;
  const found = current();
  return html`
    <a
      class="skip"
      href="#main"
      onClick=${(/** @type {Event} */ event) => (event.preventDefault(), document.querySelector("main")?.focus())}
    >
      ${t("shell.skip")}
    </a>
    <${Bar} />
    <${Navigation} active=${found?.page.nav ?? ""} />
    <main id="main" tabindex="-1">
      ${
        !may("read")
          ? html`<${Empty} icon="key">${t("shell.no-read")}</${Empty}>`
          : found
          ? html`<${found.page.view} key=${href(route.value.path)} ...${found.params} />`
          : html`<${NotFound} />`
      }
    </main>
    <${Palette} />
    <${Help} />
    <${Questions} />
    <${Toasts} />
  `;
}

/** The page of the address. */
function current() {
  for (const page of PAGES) {
    const params = match(page.path, route.value.path);
    if (params) return { page, params };
  }
  return null;
}

function NotFound() {
  return html`
    <div class="empty">
      <${Icon} name="search" />
      <p>${t("shell.no-page")}</p>
      <a class="button" href=${href([])}>${t("overview.title")}</a>
    </div>
  `;
}

function Bar() {
  const other = language.value === "en" ? "zh" : "en";
  return html`
    <header class="bar">
      <button
        class="plain menu-button"
        aria-label=${t("shell.menu")}
        aria-expanded=${menu.value}
        aria-controls="navigation"
        onClick=${() => (menu.value = !menu.value)}
      >
        <${Icon} name=${menu.value ? "close" : "menu"} />
      </button>
      <a class="brand" href=${href([])} aria-label="Punctual">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" />
          <circle cx="16" cy="16" r="9" />
          <path d="M16 10.5V16l4 2.5" />
        </svg>
        <span>Punctual</span>
      </a>
      <button class="search-button" onClick=${openPalette}>
        <${Icon} name="search" />
        <span>${t("shell.search")}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <${Connection} />
      <div class="bar-tools">
        ${
          !may("produce") &&
          !may("admin") && html`<span class="badge quiet read-only">${t("shell.read-only")}</span>`
        }
        <button class="plain" title=${LANGUAGES[other]} aria-label=${LANGUAGES[other]} onClick=${() => speak(other)}>
          <${Icon} name="language" />
          <span class="wide-only">${LANGUAGES[other]}</span>
        </button>
        <button
          class="plain"
          title=${t("shell.theme")}
          aria-label=${t("shell.theme")}
          aria-pressed=${dark.value}
          onClick=${flip}
        >
          <${Icon} name=${dark.value ? "sun" : "moon"} />
        </button>
        ${
          !access.value?.open &&
          html`
            <button
              class="plain"
              title=${t("shell.forget-token")}
              aria-label=${t("shell.forget-token")}
              onClick=${leave}
            >
              <${Icon} name="key" />
            </button>
          `
        }
      </div>
    </header>
  `;
}

/** How the event stream is, in a word. */
function Connection() {
  const state = connection.value;
  const [tone, icon] = {
    "live": ["good", "dot"],
    "caught-up": ["good", "check"],
    "lost": ["bad", "off"],
    "connecting": ["quiet", "half"],
    "hidden": ["quiet", "pause"],
    "off": ["quiet", "off"],
  }[state] ?? ["quiet", "dot"];
  return html`
    <div class=${cx("connection", tone)} role="status" data-connection=${state}>
      <${Icon} name=${icon} />
      <span>${t(`shell.connection.${state}`)}</span>
      ${state === "lost" && html`<button class="link" onClick=${restart}>${t("shell.try-again")}</button>`}
    </div>
  `;
}

/** @param {{active: string}} props */
function Navigation({ active }) {
  const close = () => (menu.value = false);
  return html`
    <nav id="navigation" class=${cx("navigation", menu.value && "open")} aria-label=${t("shell.navigation")}>
      <ul>
        ${PAGES.filter((page) => page.icon && (page.shown?.() ?? true)).map(
          (page) => html`
            <li key=${page.path}>
              <a
                href=${href(page.path.split("/").filter(Boolean))}
                aria-current=${page.nav === active ? "page" : undefined}
                onClick=${close}
              >
                <${Icon} name=${page.icon} />
                ${t(`${page.nav}.title`)}
              </a>
            </li>
          `,
        )}
      </ul>
    </nav>
  `;
}

/** Asks for a token. */
function Gate() {
  const [value, setValue] = useState("");
  const [wrong, setWrong] = useState("");
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      if (!(await unlock(value.trim()))) setWrong(t("shell.wrong-token"));
      else restart();
    } catch (error) {
      complain(error);
    }
  };
  return html`
    <main class="gate">
      <form class="card" onSubmit=${submit}>
        <h1>Punctual</h1>
        <p class="muted">${t("shell.gate")}</p>
        <${Input} label=${t("shell.token")} type="password" value=${value} onInput=${setValue} wrong=${wrong} required />
        <button class="primary" type="submit" disabled=${!value.trim()}>${t("shell.enter")}</button>
      </form>
    </main>
  `;
}
