// The palette (Ctrl-K): to any page, queue, plan, flow, worker or task by typing a part of its name.

import { effect, html, signal, useEffect, useMemo, useRef, useState } from "../lib/html.js";
import { api, may } from "../lib/api.js";
import { go, route } from "../lib/router.js";
import { LANGUAGES, language, speak, t } from "../lib/text.js";
import { flip } from "../lib/theme.js";
import { PAGES } from "../pages/index.js";
import { Icon } from "./icon.js";
import { openHelp } from "./shortcuts.js";

/** @typedef {{icon: string, label: string, kind: string, run: () => void}} Entry */

const SHOWN = 12;
const shown = signal(false);

// A reader who has gone to another page is done with it.
effect(() => {
  void route.value;
  shown.value = false;
});

export const openPalette = () => {
  shown.value = true;
};

export function Palette() {
  return shown.value
    ? html`<${Opened} />`
    : null;
}

/** What can always be chosen. @returns {Entry[]} */
function fixed() {
  const other = language.value === "en" ? "zh" : "en";
  return [
    ...PAGES.filter((page) => page.icon && (page.shown?.() ?? true)).map((page) => ({
      icon: page.icon ?? "",
      label: t(`${page.nav}.title`),
      kind: t("shell.page"),
      run: () => go(page.path.split("/").filter(Boolean)),
    })),
    ...(may("produce") ? [{ icon: "plus", label: t("plans.add"), kind: t("shell.action"), run: () => go(["new-plan"]) }] : []),
    { icon: "help", label: t("overview.docs"), kind: t("shell.page"), run: () => location.assign("/docs") },
    { icon: "moon", label: t("shell.theme"), kind: t("shell.action"), run: flip },
    { icon: "language", label: LANGUAGES[other], kind: t("shell.action"), run: () => speak(other) },
    { icon: "help", label: t("shell.shortcuts"), kind: t("shell.action"), run: openHelp },
  ];
}

/** What can be found by its name, and where it is listed. */
const NAMED = [
  { kind: "shell.queue", icon: "queues", from: "/v1/queues?limit=1000", name: "name", path: "queues" },
  { kind: "overview.plan", icon: "plans", from: "/v1/plans?limit=1000", name: "plan_id", path: "plans" },
  { kind: "flows.flow", icon: "flows", from: "/v1/flows?limit=1000", name: "id", path: "flows" },
  { kind: "workers.name", icon: "workers", from: "/v1/workers?limit=1000", name: "name", path: "workers" },
];

/** @param {typeof NAMED[number]} kind @param {any} item @returns {Entry} */
function entry({ kind, icon, name, path }, item) {
  const label = item.description ? `${item[name]} · ${item.description}` : String(item[name]);
  return { icon, label, kind: t(kind), run: () => go([path, String(item[name])]) };
}

/** The task that `queue/id` names. @param {string} text @returns {Entry[]} */
function task(text) {
  const [, queue, id] = text.match(/^([\w.:@~-]+)\/([\w.:@~-]+)$/) ?? [];
  if (!queue || !id) return [];
  return [
    { icon: "tasks", label: `${queue}/${id}`, kind: t("shell.task"), run: () => go(["queues", queue, "tasks", id]) },
  ];
}

function Opened() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const [named, setNamed] = useState(/** @type {Entry[]} */ ([]));
  useEffect(() => {
    dialog.current?.showModal();
    for (const kind of NAMED) {
      // Records that the token may not read are not found.
      api.get(kind.from).then(({ items }) => setNamed((old) => [...old, ...items.map((/** @type {any} */ item) => entry(kind, item))]), () => {});
    }
  }, []);
  const close = () => (shown.value = false);

  const entries = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (/** @type {Entry} */ entry) =>
      words.every((word) => `${entry.label} ${entry.kind}`.toLowerCase().includes(word));
    return [...task(text.trim()), ...[...fixed(), ...named].filter(fits)].slice(0, SHOWN);
  }, [text, named, language.value]);

  const run = (/** @type {Entry | undefined} */ entry) => {
    if (!entry) return;
    close();
    entry.run();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setChosen((chosen + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === "Enter" && !event.isComposing) run(entries[chosen]);
    else return;
    event.preventDefault();
  };

  return html`
    <dialog
      ref=${dialog}
      class="palette"
      aria-label=${t("shell.palette")}
      onClose=${close}
      onClick=${(/** @type {MouseEvent} */ event) => event.target === dialog.current && close()}
    >
      <div class="palette-input">
        <${Icon} name="search" />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-label=${t("shell.palette")}
          aria-activedescendant=${`palette-${chosen}`}
          autofocus
          placeholder=${t("shell.palette-hint")}
          value=${text}
          spellcheck=${false}
          autocomplete="off"
          onKeyDown=${onKeyDown}
          onInput=${(/** @type {any} */ event) => (setText(event.target.value), setChosen(0))}
        />
      </div>
      <ul id="palette-list" role="listbox" aria-label=${t("shell.palette")}>
        ${entries.map(
          (entry, index) => html`
            <li
              key=${entry.kind + entry.label}
              id=${`palette-${index}`}
              role="option"
              aria-selected=${index === chosen}
              onMouseMove=${() => setChosen(index)}
              onClick=${() => run(entry)}
            >
              <${Icon} name=${entry.icon} />
              <span class="palette-label" dir="auto">${entry.label}</span>
              <span class="muted">${entry.kind}</span>
            </li>
          `,
        )}
        ${entries.length === 0 && html`<li class="muted">${t("shell.nothing")}</li>`}
      </ul>
    </dialog>
  `;
}
