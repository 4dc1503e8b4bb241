// Outcomes on their way to the server.
//
// Commits ride on the next take. While a take is open, or there is none, they go in a batch: one request is under way
// per queue, and all that comes meanwhile goes together in the next.

import { type Client, portion } from "./client.js";
import { ApiError, NoAnswer, isPassing } from "./errors.js";
import { type Job, type Outcome, now } from "./job.js";
import { path, pauseOf, sleep } from "./transport.js";
import type { Result } from "./types.js";

export const PAUSE_MAX_S = 5;

/** A job and what is said of it, as JSON. */
export type Item = [Job, string];
type Verb = "commit" | "fail" | "release";

/** The outcomes of one queue's tasks. */
export class Settler {
  private readonly waiting: Record<Verb, Item[]> = { commit: [], fail: [], release: [] };
  private sending?: Promise<void>;
  /** Acknowledgements have no batch: they go by themselves. */
  private readonly alone = new Set<Promise<unknown>>();

  constructor(
    private readonly client: Client,
    private readonly queue: string,
    private readonly warn: (text: string) => void,
  ) {}

  /** Takes over an outcome. The job is settled when the server has it, or refuses it for good. */
  add(job: Job, outcome: Outcome): void {
    const verdict = job.verdict(outcome);
    const { checkpoint } = job.unsent();
    const named = { id: job.id, token: job.token };
    if (verdict === "nothing") {
      this.warn(`task ${job.id} of ${job.queue}: its hold was lost, the outcome is dropped`);
      job.isSettled = true;
    } else if (verdict === "cancelled" || verdict === "paused") {
      const error = outcome.isStop ? undefined : outcome.error;
      this.start(this.untilKnown(job, verdict, withMember({ token: job.token, error }, "checkpoint", checkpoint)));
    } else if (verdict === "done") {
      this.put("commit", job, withMember(named, "result", outcome.result ?? "null"));
    } else if (verdict === "released") {
      this.put("release", job, withMember({ ...named, delay: outcome.delay }, "checkpoint", checkpoint));
    } else if (checkpoint !== undefined) {
      this.start(this.failWithCheckpoint(job, outcome, checkpoint));
    } else {
      this.put("fail", job, failItem(job, outcome));
    }
  }

  /** Hands over what a take carries; `putBack` returns what the server did not answer. */
  takeCommits(): Item[] {
    const commits = this.waiting.commit;
    return commits.splice(0, portion(commits.map(([, item]) => item)));
  }

  putBack(items: Item[]): void {
    if (!items.length) return;
    this.waiting.commit.unshift(...items);
    this.wake();
  }

  committed(items: Item[], results: Result[]): void {
    this.answered("commit", items, results);
  }

  /** Waits until nothing is on its way. */
  async idle(): Promise<void> {
    while (this.sending || this.alone.size) await Promise.all([this.sending, ...this.alone]);
  }

  private put(verb: Verb, job: Job, item: string): void {
    this.waiting[verb].push([job, item]);
    this.wake();
  }

  private wake(): void {
    this.sending ??= this.send().finally(() => {
      this.sending = undefined;
      if (Object.values(this.waiting).some((items) => items.length)) this.wake();
    });
  }

  private start(work: Promise<unknown>): void {
    this.alone.add(work);
    void work.finally(() => this.alone.delete(work));
  }

  private async send(): Promise<void> {
    // A take that has room now leaves first and carries the commits.
    await new Promise((resolve) => setImmediate(resolve));
    for (let failures = 0; ; ) {
      const verb = (Object.keys(this.waiting) as Verb[]).find((name) => this.waiting[name].length);
      if (!verb) return;
      const items = this.waiting[verb].splice(0, portion(this.waiting[verb].map(([, item]) => item)));
      const raw = `{"tasks":[${items.map(([, item]) => item).join(",")}]}`;
      try {
        const where = `${path("/v1/queues/{queue}", this.queue)}/${verb}`;
        const told = await this.client.json<{ results: Result[] }>({ method: "POST", path: where, raw });
        this.answered(verb, items, told.results);
        failures = 0;
      } catch (error) {
        if (!isPassing(error)) {
          this.refused(items, error);
          continue;
        }
        this.waiting[verb].unshift(...this.stillHeld(items));
        await sleep(pauseOf(failures++, error, PAUSE_MAX_S));
      }
    }
  }

  /** An outcome is sent as long as it may count: for the length of a hold after the last heartbeat. */
  private stillHeld(items: Item[]): Item[] {
    const late = items.filter(([job]) => now() > job.heldUntil + job.holdS);
    this.refused(late, new NoAnswer("the server was away for longer than the hold"));
    return items.filter((item) => !late.includes(item));
  }

  private answered(verb: Verb, items: Item[], results: Result[]): void {
    items.forEach(([job, item], index) => {
      const result = results[index];
      if (!result) return;
      const { ok, code, detail } = result;
      if (ok) {
        job.isSettled = true;
      } else if (code === "unavailable") {
        this.put(verb, job, item);
      } else if (verb === "commit" && (code === "too_large" || code === "invalid")) {
        // The server will never take this result: the task has failed.
        const error = `the result was refused: ${detail}`;
        this.put("fail", job, failItem(job, { kind: "failed", error, permanent: true }));
      } else {
        this.refused([[job, item]], new ApiError(409, code ?? "invalid", detail ?? ""));
      }
    });
  }

  private refused(items: Item[], error: unknown): void {
    for (const [job] of items) {
      job.isSettled = true;
      this.warn(`task ${job.id} of ${job.queue} was not settled, another worker gets it: ${(error as Error).message}`);
    }
  }

  private async failWithCheckpoint(job: Job, outcome: Outcome, checkpoint: string): Promise<void> {
    const isKnown = await this.untilKnown(job, "extend", withMember({ token: job.token }, "checkpoint", checkpoint));
    if (isKnown) this.put("fail", job, failItem(job, outcome));
  }

  private async untilKnown(job: Job, verb: string, raw: string): Promise<boolean> {
    const where = `${path("/v1/queues/{queue}/tasks/{id}", job.queue, job.id)}/${verb}`;
    for (let failures = 0; ; failures++) {
      try {
        await this.client.json({ method: "POST", path: where, raw });
        job.isSettled ||= verb !== "extend";
        return true;
      } catch (error) {
        if (!isPassing(error)) {
          this.refused([[job, raw]], error);
          return false;
        }
        if (!this.stillHeld([[job, raw]]).length) return false;
        await sleep(pauseOf(failures, error, PAUSE_MAX_S));
      }
    }
  }
}

function failItem(job: Job, outcome: Outcome): string {
  const { error, retryIn, permanent } = outcome;
  return withMember({ id: job.id, token: job.token, error, retry_in: retryIn, permanent: permanent || undefined });
}

/** An object as JSON, with a member whose value is JSON already. */
export function withMember(values: object, name?: string, value?: string): string {
  const text = JSON.stringify(values);
  return value === undefined ? text : `${text.slice(0, -1)},"${name}":${value}}`;
}
