// Failed tasks, grouped by what went wrong, and the way to try a whole group again.

import { html, useState } from "../lib/html.js";
import { may, url } from "../lib/api.js";
import { useResource } from "../lib/resource.js";
import { href, route } from "../lib/router.js";
import { number, t } from "../lib/text.js";
import { BulkDialog } from "../parts/bulk.js";
import { QueueField } from "../parts/queue-field.js";
import { Icon } from "../parts/icon.js";
import { Pager } from "../parts/pager.js";
import { Empty, Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Card, Loaded, Page } from "../parts/view.js";

// A group without an error is not offered as a whole: what it would match are all failed tasks.
const EVENTS = [
  "task.failed",
  "task.expired",
  "task.resumed",
  "task.retrying",
  "task.cancelled",
  "task.pushed",
  "queue.changed",
  "notice.exhausted",
];

/** @typedef {{queue: string, error: string | null, count: number, last_at: string | null, id: string}} Group */

export function Failed() {
  const { query } = route.value;
  const queue = query.get("queue") ?? "";
  const failures = useResource(url`/v1/failures${{ queue, cursor: query.get("cursor") }}`, {
    types: EVENTS,
    queue: queue || null,
    apart: 2000,
  });
  const [doing, setDoing] = useState(/** @type {{group: Group, verb: "retry" | "clean"} | null} */ (null));
  const columns = [
    {
      label: t("failed.error"),
      bare: true,
      wide: true,
      cell: (/** @type {Group} */ group) => html`
        <a
          class="clip"
          dir="auto"
          title=${group.error ?? ""}
          href=${href(["tasks"], { queue: group.queue, state: "failed", error: group.error })}
        >
          ${group.error || t("failed.no-error")}
        </a>
      `,
    },
    {
      label: t("shell.queue"),
      cell: (/** @type {Group} */ group) => html`<a href=${href(["queues", group.queue])}>${group.queue}</a>`,
    },
    {
      label: t("failed.count"),
      align: "end",
      cell: (/** @type {Group} */ group) => html`<strong class="number">${number(group.count)}</strong>`,
    },
    {
      label: t("failed.last"),
      cell: (/** @type {Group} */ group) => html`<${Time} at=${group.last_at} />`,
    },
    {
      label: t("failed.example"),
      cell: (/** @type {Group} */ group) => html`
        <a class="clip code failed-example" href=${href(["queues", group.queue, "tasks", group.id])}>${group.id}</a>
      `,
    },
    ...(may("produce")
      ? [
          {
            label: "",
            cell: (/** @type {Group} */ group) =>
              group.error &&
              may("produce", group.queue) &&
              html`
                <span class="row-actions">
                  <button class="small" onClick=${() => setDoing({ group, verb: "retry" })}>
                    <${Icon} name="retry" />
                    ${t("failed.retry")}
                  </button>
                  <button class="small danger" onClick=${() => setDoing({ group, verb: "clean" })}>
                    ${t("failed.clean")}
                  </button>
                </span>
              `,
          },
        ]
      : []),
  ];
  return html`
    <${Page} title=${t("failed.title")}>
      <div class="filters"><${QueueField} queue=${queue} /></div>
      <${Card} flush>
        <${Loaded} from=${failures}>
          ${(/** @type {any} */ page) => html`
            <${Table}
              label=${t("failed.title")}
              rows=${page.items}
              rowKey=${(/** @type {Group} */ group) => `${group.queue} ${group.error}`}
              columns=${columns}
              empty=${html`<${Empty} icon="check">${t("failed.none")}</${Empty}>`}
            />
            <${Pager} next=${page.next} />
          `}
        </${Loaded}>
      </${Card}>
      ${
        doing &&
        html`
          <${BulkDialog}
            queue=${doing.group.queue}
            verb=${doing.verb}
            filter=${{ state: "failed", error: doing.group.error ?? undefined }}
            title=${t(`failed.${doing.verb}-title`)}
            note=${doing.group.error?.slice(0, 300)}
            onClose=${() => (setDoing(null), failures.refresh())}
          />
        `
      }
    </${Page}>
  `;
}
