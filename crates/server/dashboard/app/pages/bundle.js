// One bundle: all that is in it, when it is due, and the way to have it dealt with now, or not at all.

import { html, useMemo } from "../lib/html.js";
import { api, may, url } from "../lib/api.js";
import { member, parse, raw } from "../lib/json.js";
import { useResource } from "../lib/resource.js";
import { href } from "../lib/router.js";
import { number, t } from "../lib/text.js";
import { State, Tag } from "../parts/badge.js";
import { confirm } from "../parts/dialog.js";
import { JsonTree } from "../parts/json-tree.js";
import { Time } from "../parts/time.js";
import { act } from "../parts/toast.js";
import { Action, Card, Facts, Loaded, Page } from "../parts/view.js";

export const EVENTS = ["bundle.*", "task.*", "queue.changed"];

/** What a bundle is called: of one that was pushed by its URL the merge key. @param {any} bundle */
export const nameOf = (bundle) => (bundle.url ? bundle.key.split("/")[0] : bundle.key) || bundle.key;

/** What can be done so that it is dealt with now; null: nothing. @param {any} bundle @returns {"now" | "now-pull" | "retry" | null} */
export function verbOf(bundle) {
  if (bundle.state === "failed") return "retry";
  return bundle.state !== "waiting" ? null : bundle.task ? "now" : "now-pull";
}

/** Has a bundle dealt with now. @param {any} bundle */
export const makeDue = (bundle) =>
  act(() => api.post(url`/v1/queues/${bundle.queue}/bundles/${bundle.key}/retry`), t("bundles.did-now"));

/** @param {string} path @param {AbortSignal} signal */
async function read(path, signal) {
  const text = await api.text(path, signal);
  return { text, bundle: JSON.parse(text) };
}

/** @param {{queue: string, bundle: string}} props */
export function Bundle({ queue, bundle: key }) {
  const path = url`/v1/queues/${queue}/bundles/${key}`;
  const loaded = useResource(path, { types: EVENTS, queue, read });
  const data = loaded.data;
  const members = useMemo(
    () => (data ? raw(data.text, member(parse(data.text), "tasks")) || "[]" : "[]"),
    [data?.text],
  );
  const bundle = data?.bundle;
  const allowed = may("produce", queue);
  const verb = bundle && verbOf(bundle);
  const remove = async () => {
    if (
      !(await confirm({
        title: t("bundles.delete-title"),
        body: t("bundles.delete-text"),
        action: t("bundles.delete"),
        danger: true,
      }))
    )
      return;
    await act(() => api.delete(path), t("bundles.deleted"), { to: () => [["bundles"], { queue }] });
  };
  return html`
    <${Page}
      title=${bundle ? nameOf(bundle) : key}
      above=${[
        { label: t("bundles.title"), href: href(["bundles"], { queue }) },
        { label: queue, href: href(["queues", queue]) },
      ]}
      beside=${bundle && html`<${State} state=${bundle.state} />`}
      actions=${
        bundle &&
        html`
          <${Action}
            allowed=${allowed && verb}
            icon="play"
            tone="primary"
            onClick=${async () => (await makeDue(bundle), loaded.refresh())}
          >
            ${t(`bundles.${verb}`)}
          </${Action}>
          <${Action} allowed=${allowed} tone="danger" onClick=${remove}>${t("bundles.delete")}</${Action}>
        `
      }
    >
      <${Loaded} from=${loaded}>
        ${() => html`
          ${
            bundle.error !== null &&
            html`
              <div class="callout bad" role="note">
                <h2>${t("bundles.error")}</h2>
                <pre dir="auto">${bundle.error}</pre>
              </div>
            `
          }
          <${Card} title=${t("bundles.facts")}>
            <${Facts}
              items=${[
                [t("bundles.size"), number(bundle.size)],
                [
                  t("bundles.when"),
                  html`<${Time} at=${bundle.ontime} />`,
                ],
                [
                  t("bundles.created"),
                  html`<${Time} at=${bundle.created_at} />`,
                ],
                [
                  t("bundles.locked"),
                  bundle.locked_until && html`<${Time} at=${bundle.locked_until} />`,
                ],
                [
                  t("bundles.target"),
                  bundle.url && html`<code dir="auto">${bundle.method} ${bundle.url}</code>`,
                ],
                [
                  t("bundles.task"),
                  bundle.task &&
                    html`<a class="code" href=${href(["deliveries", queue, bundle.task])}>${bundle.task}</a>`,
                ],
                [t("bundles.attempt"), bundle.task ? number(bundle.attempt) : null],
                [
                  t("bundles.data"),
                  bundle.data.length > 0
                    ? html`
                        <span class="tags">
                          ${bundle.data.slice(0, 200).map(
                            (/** @type {string} */ text) => html`<${Tag} key=${text}>${text}</${Tag}>`,
                          )}${bundle.data.length > 200 && html`<span class="muted">+${bundle.data.length - 200}</span>`}
                        </span>
                      `
                    : null,
                ],
              ]}
            />
          </${Card}>
          <${Card} title=${t("bundles.members")}>
            ${
              bundle.tasks.length < bundle.size &&
              html`<p class="muted">${t("bundles.first", { n: bundle.tasks.length })}</p>`
            }
            <${JsonTree} text=${members} label=${t("bundles.members")} />
          </${Card}>
        `}
      </${Loaded}>
    </${Page}>
  `;
}
