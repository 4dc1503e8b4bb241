// The frame of a page: its heading, what can be done there, and what is said while it loads or fails.

import { cx, html, useEffect, useRef } from "../lib/html.js";
import { useOnce } from "../lib/once.js";
import { t } from "../lib/text.js";
import { Icon } from "./icon.js";
import { Empty } from "./table.js";

/**
 * A page: where it lies, its title, its actions, its content.
 * @param {{title: import("../lib/html.js").Children, above?: {label: string, href: string}[], beside?: any, actions?: any, children?: import("../lib/html.js").Children}} props
 */
export function Page({ title, above = [], beside, actions, children }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    document.title = `${heading.current?.textContent} · Punctual`;
  });
  return html`
    <div class="page">
      <header class="page-header">
        <div class="page-title">
          ${
            above.length > 0 &&
            html`
              <nav class="crumbs" aria-label=${t("shell.where")}>
                ${above.map(
                  ({ label, href }) => html`
                    <a key=${href} href=${href}>${label}</a>
                    <${Icon} name="right" />
                  `,
                )}
              </nav>
            `
          }
          <h1 ref=${heading} tabindex="-1" dir="auto">${title}</h1>
          ${beside}
        </div>
        ${actions && html`<div class="actions">${actions}</div>`}
      </header>
      ${children}
    </div>
  `;
}

/**
 * A part of a page with a heading of its own.
 * @param {{title?: string, actions?: any, flush?: boolean, children?: import("../lib/html.js").Children}} props flush: its content touches its edges
 */
export function Card({ title, actions, flush, children }) {
  return html`
    <section class=${flush ? "card flush" : "card"} aria-label=${title}>
      ${
        title &&
        html`
          <header>
            <h2>${title}</h2>
            ${actions && html`<div class="actions">${actions}</div>`}
          </header>
        `
      }
      ${children}
    </section>
  `;
}

/**
 * What was read, once it was; until then, or instead, a word on it.
 * @param {{from: import("../lib/resource.js").Resource<any>, children?: (data: any) => any}} props
 */
export function Loaded({ from: { data, last, error, loading, refresh }, children }) {
  if (data !== undefined) return children?.(data);
  if (last !== undefined) return html`<${Empty} icon="ring">${t("shell.gone")}</${Empty}>`;
  if (error) {
    return html`
      <div class="empty bad" role="alert">
        <${Icon} name="failed" />
        <p dir="auto">${error.status === 0 ? t("shell.unreachable") : error.message}</p>
        <button onClick=${refresh}>
          <${Icon} name="retry" />
          ${t("shell.try-again")}
        </button>
      </div>
    `;
  }
  return loading
    ? html`<div class="loading" role="status">${t("shell.loading")}</div>`
    : html`<${Empty}>${t("shell.nothing")}</${Empty}>`;
}

/**
 * Names and what they stand for, side by side.
 * @param {{items: [string, any][]}} props null leaves one out
 */
export function Facts({ items }) {
  return html`
    <dl class="facts">
      ${items
        .filter(([, value]) => value !== null && value !== undefined)
        .map(
          ([name, value]) => html`
            <div key=${name}>
              <dt>${name}</dt>
              <dd dir="auto">${value}</dd>
            </div>
          `,
        )}
    </dl>
  `;
}

/**
 * One number and what it counts.
 * @param {{label: string, value: any, hint?: any, tone?: string, href?: string}} props
 */
export function Stat({ label, value, hint, tone, href }) {
  const content = html`
    <span class="stat-label">${label}</span>
    <span class=${`stat-value ${tone ?? ""}`}>${value}</span>
    ${hint && html`<span class="stat-hint muted">${hint}</span>`}
  `;
  return href
    ? html`<a class="stat" href=${href}>${content}</a>`
    : html`<div class="stat">${content}</div>`;
}

/**
 * A button for what the token allows; what it does not is not there. A second click while the first is under way does
 * nothing. With `href` it is the way to another page.
 * @param {{allowed: boolean, icon?: string, tone?: string, onClick?: () => unknown, href?: string, disabled?: boolean, children?: import("../lib/html.js").Children}} props
 */
export function Action({ allowed, icon, tone = "", onClick, href, disabled, children }) {
  const [once] = useOnce();
  if (!allowed) return null;
  const content = html`
    ${icon && html`<${Icon} name=${icon} />`}
    <span>${children}</span>
  `;
  return href
    ? html`<a class=${cx("button", tone)} href=${href}>${content}</a>`
    : html`<button class=${tone} disabled=${disabled} onClick=${() => once(() => onClick?.())}>${content}</button>`;
}
