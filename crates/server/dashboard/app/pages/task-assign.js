// A task of a dispatch queue is handed to a worker of one's choice.

import { html, useState } from "../lib/html.js";
import { api, url } from "../lib/api.js";
import { useOnce } from "../lib/once.js";
import { useResource } from "../lib/resource.js";
import { t } from "../lib/text.js";
import { Dialog } from "../parts/dialog.js";
import { Select } from "../parts/form.js";
import { act } from "../parts/toast.js";
import { Loaded } from "../parts/view.js";

/** @param {{task: any, onClose: () => void}} props */
export function Assign({ task, onClose }) {
  const workers = useResource("/v1/workers?limit=1000", { types: ["worker.*"] });
  const [chosen, setChosen] = useState("");
  const serving = (workers.data?.items ?? [])
    .filter((/** @type {any} */ worker) => worker.state === "active" && worker.queues.includes(task.queue))
    .map((/** @type {any} */ { name, load, capacity }) => [name, `${name} (${load} / ${capacity})`]);
  const worker = chosen || serving[0]?.[0];
  const [once] = useOnce();
  const assign = async () => {
    if (
      await act(
        () => api.post(url`/v1/queues/${task.queue}/tasks/${task.id}/assign`, { worker }),
        t("tasks.assigned", { worker }),
      )
    )
      onClose();
  };
  return html`
    <${Dialog} title=${t("tasks.assign")} onClose=${onClose}>
      <form onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), once(assign))}>
        <${Loaded} from=${workers}>
          ${() =>
            serving.length
              ? html`
                  <${Select}
                    label=${t("tasks.worker")}
                    value=${worker}
                    options=${serving}
                    onInput=${setChosen}
                    hint=${t("tasks.assign-hint")}
                  />
                `
              : html`<p class="muted">${t("why.no_worker")}</p>`}
        </${Loaded}>
        <footer>
          <button type="button" data-close>${t("shell.cancel")}</button>
          <button class="primary" disabled=${!worker}>${t("tasks.assign")}</button>
        </footer>
      </form>
    </${Dialog}>
  `;
}
