// The worker: takes tasks or is given them, hands them to handlers, keeps their holds, settles them.
//
//   pull ──┐                          ┌── handler
//          ├──▶ Worker.accept ────────┤
//   given ─┘                          └── Beats: extend, hear of cancel and pause
//               Worker.finished ──▶ Settler: commits ride on the next take

import { randomUUID } from "node:crypto";

import { Beats, LogLines } from "./beats.js";
import type { Client } from "./client.js";
import { ApiError, isPassing } from "./errors.js";
import { Job, type Outcome, done, failed, now } from "./job.js";
import { PAUSE_MAX_S, Settler } from "./settle.js";
import { Task } from "./task.js";
import { type Call, path, pauseOf, sleep } from "./transport.js";
import type { Orders, Taken, Task as Record_ } from "./types.js";

/** How long a take or a poll waits for something to do. Well below the silence after which a worker is lost. */
const WAIT_S = 15;
/** A request that is older than this waits for something to do; a younger one may be about to be answered. */
const ANSWER_S = 0.5;
/** How long handlers have that were told to stop before their tasks are given back without them. */
const LAST_WORDS_S = 2;
const TAKE_MAX = 1_000;

/** The handler of a queue, with its places. */
export interface Handler {
  queue: string;
  run: (task: Task) => unknown;
  concurrency: number;
  prefetch: number;
  running: number;
  /** Taken or assigned, and waiting for a place. */
  backlog: Job[];
}

/** One run of a worker, from its start to its graceful end. */
export class Worker {
  private readonly jobs = new Map<string, Job>();
  /** Tokens of the last tasks that are over. */
  private readonly ended: string[] = [];
  private readonly settlers = new Map<string, Settler>();
  private readonly beats: Beats;
  private readonly lines: LogLines;
  private readonly stopping = new AbortController();
  private readonly hurrying = new AbortController();
  private readonly session = randomUUID();
  private waiters: (() => void)[] = [];

  constructor(
    private readonly client: Client,
    private readonly name: string,
    private readonly capabilities: string[],
    private readonly graceS: number,
    private readonly handlers: Handler[],
    private readonly warn: (text: string) => void,
  ) {
    this.beats = new Beats(client, this.jobs, warn);
    this.lines = new LogLines(client);
    for (const { queue } of handlers) this.settlers.set(queue, new Settler(client, queue, warn));
  }

  stop(hurry: boolean): void {
    this.stopping.abort();
    if (hurry) this.hurrying.abort();
    this.changed();
  }

  /** Works until stopped. An error means that it cannot go on; a server that is away is waited for. */
  async run(): Promise<void> {
    try {
      const given: Handler[] = [];
      const loops: Promise<void>[] = [];
      for (const handler of this.handlers) {
        const mode = await this.modeOf(handler.queue);
        if (mode === "dispatch" || mode === "vote") given.push(handler);
        else if (mode === "pull") loops.push(this.pull(handler));
        else if (mode) this.warn(`queue ${handler.queue} has mode ${mode}: the server carries it out itself`);
      }
      if (given.length) loops.push(this.beGiven(given));
      loops.push(this.untilStopping());
      try {
        await Promise.all(loops);
      } catch (error) {
        this.stop(true);
        await Promise.allSettled(loops);
        await this.finish();
        throw error;
      }
      await this.finish();
      if (given.length) await this.quietly(this.client.deleteWorker(this.name));
    } finally {
      this.beats.close();
    }
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private untilStopping(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isStopping) return resolve();
      // The timer keeps the program alive: a waiting fetch alone does so too, but not between two of them.
      const alive = setInterval(() => {}, 60_000);
      this.stopping.signal.addEventListener("abort", () => {
        clearInterval(alive);
        resolve();
      });
    });
  }

  /** Reads a queue's mode; makes the queue if it does not exist; undefined: stopped meanwhile. */
  private async modeOf(queue: string): Promise<string | undefined> {
    for (let failures = 0; !this.isStopping; failures++) {
      try {
        return (await this.client.getQueue(queue)).mode;
      } catch (error) {
        const isMissing = error instanceof ApiError && error.code === "not_found";
        if (!isMissing && !isPassing(error)) throw error;
        if (isMissing) await this.quietly(this.client.putQueue(queue));
        await this.pause(failures, error);
      }
    }
    return undefined;
  }

  /** Waits longer and longer while the server cannot be spoken to, but not beyond a stop. */
  private async pause(failures: number, error: unknown): Promise<void> {
    if (failures === 1) this.warn(`the server cannot be spoken to, it is tried again: ${(error as Error).message}`);
    await sleep(pauseOf(failures, error, PAUSE_MAX_S), this.stopping.signal);
  }

  /** Ignores errors of messages that the server can do without. */
  private async quietly(work: Promise<unknown>): Promise<void> {
    await work.catch(() => undefined);
  }

  // Tasks of pull queues.

  private async pull(handler: Handler): Promise<void> {
    const settler = this.settlers.get(handler.queue) as Settler;
    for (let failures = 0; ; ) {
      while (room(handler) < 1 && !this.isStopping) await this.change();
      if (this.isStopping) return;
      const commits = settler.takeCommits();
      const take = { worker: this.name, n: Math.min(room(handler), TAKE_MAX), wait: WAIT_S };
      const carried = commits.length ? `,"commit":[${commits.map(([, item]) => item).join(",")}]` : "";
      const raw = `${JSON.stringify(take).slice(0, -1)}${carried}}`;
      let told: Taken | undefined;
      try {
        const where = path("/v1/queues/{queue}/take", handler.queue);
        told = await this.asked<Taken>({ method: "POST", path: where, raw, body: { wait: WAIT_S } });
      } catch (error) {
        settler.putBack(commits);
        const isGone = error instanceof ApiError && error.code === "not_found";
        if (!isPassing(error) && !isGone) throw error;
        await this.pause(failures++, error);
        continue;
      }
      if (!told) {
        settler.putBack(commits);
        return;
      }
      failures = 0;
      settler.committed(commits, told.committed ?? []);
      for (const record of told.tasks) this.accept(handler, record);
    }
  }

  /** The answer of a request that waits; undefined if a stop came first. The server releases what it could not hand over. */
  private async asked<T>(call: Call): Promise<T | undefined> {
    const abort = new AbortController();
    const leftAt = now();
    const stop = () => setTimeout(() => abort.abort(), Math.max(leftAt + ANSWER_S - now(), 0) * 1000);
    if (this.isStopping) return undefined;
    this.stopping.signal.addEventListener("abort", stop);
    try {
      return await this.client.json<T>({ ...call, signal: abort.signal });
    } catch (error) {
      if (abort.signal.aborted) return undefined;
      throw error;
    } finally {
      this.stopping.signal.removeEventListener("abort", stop);
    }
  }

  // Tasks of dispatch and vote queues.

  private async beGiven(handlers: Handler[]): Promise<void> {
    const served = new Map(handlers.map((handler) => [handler.queue, handler]));
    const capacity = Math.min(handlers.reduce((sum, handler) => sum + handler.concurrency, 0), 10_000);
    const { session, capabilities } = this;
    let hasJoined = false;
    for (let failures = 0; !this.isStopping; ) {
      try {
        if (!hasJoined) {
          await this.client.putWorker(this.name, { queues: [...served.keys()], capabilities, capacity, session });
          hasJoined = true;
        }
        const where = path("/v1/workers/{worker}/poll", this.name);
        const told = await this.asked<Orders>({ method: "POST", path: where, body: { wait: WAIT_S, session } });
        failures = 0;
        if (told) this.hear(served, told);
      } catch (error) {
        const code = error instanceof ApiError ? error.code : undefined;
        if (hasJoined && code === "not_found") {
          hasJoined = false; // It was silent for too long, or somebody has removed it.
          continue;
        }
        if (code === "stale_token") {
          // Another has joined under this name, and has what this one held.
          for (const job of this.jobs.values()) if (served.has(job.queue)) job.tell("lost");
        }
        if (!isPassing(error)) throw error;
        await this.pause(failures++, error);
      }
    }
    if (hasJoined) await this.quietly(this.client.drainWorker(this.name));
  }

  private hear(served: Map<string, Handler>, told: Orders): void {
    for (const record of told.assignments) {
      const handler = served.get(record.queue);
      if (handler) this.accept(handler, record);
    }
    for (const [reason, names] of [["cancelled", told.cancel], ["paused", told.pause]] as const) {
      for (const { queue, id } of names) {
        for (const job of this.jobs.values()) if (job.queue === queue && job.id === id) job.tell(reason);
      }
    }
  }

  // Every task.

  private accept(handler: Handler, record: Record_): void {
    const isAssigned = record.state === "assigned";
    // An assignment repeats until it is confirmed, and in a poll that was under way then.
    if (this.jobs.has(record.token as string) || (isAssigned && this.ended.includes(record.token as string))) return;
    const job = new Job(record, () => this.beats.wake(), (it) => this.lines.wake(it));
    // Until it is confirmed nothing is held, and nothing is to be extended.
    job.isBeating = !isAssigned;
    this.jobs.set(job.token, job);
    handler.backlog.push(job);
    this.fill(handler);
    this.beats.wake();
  }

  private fill(handler: Handler): void {
    while (handler.backlog.length && handler.running < handler.concurrency && !this.isStopping) {
      const job = handler.backlog.shift() as Job;
      handler.running++;
      void (job.record.state === "assigned" ? this.confirm(handler, job) : this.start(handler, job));
    }
  }

  /** Confirms as late as possible: whoever cannot start does not confirm, and another is asked. */
  private async confirm(handler: Handler, job: Job): Promise<void> {
    try {
      job.confirm((await this.client.confirm(job.queue, job.id, { token: job.token })) as Partial<Record_>);
    } catch (error) {
      this.warn(`task ${job.id} of ${job.queue} was not confirmed: ${(error as Error).message}`);
      this.jobs.delete(job.token);
      this.freed(handler);
      return;
    }
    this.beats.wake();
    await this.start(handler, job);
  }

  private async start(handler: Handler, job: Job): Promise<void> {
    job.isRunning = true;
    let outcome: Outcome;
    try {
      outcome = done(await handler.run(new Task(job.record, job.abort.signal, job)));
    } catch (error) {
      outcome = failed(error, job);
    }
    this.finished(handler, job, outcome);
  }

  private finished(handler: Handler, job: Job, outcome: Outcome): void {
    if (!this.jobs.delete(job.token)) return; // It was given back meanwhile.
    job.isRunning = job.isBeating = false;
    this.ended.push(job.token);
    if (this.ended.length > 2_000) this.ended.splice(0, 1_000);
    this.freed(handler);
    this.settlers.get(job.queue)?.add(job, outcome);
  }

  private freed(handler: Handler): void {
    handler.running--;
    this.fill(handler);
    this.changed();
  }

  private changed(): void {
    for (const waiter of this.waiters.splice(0)) waiter();
  }

  private change(): Promise<void> {
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  // The end.

  /** Lets what is under way finish, gives back what does not in time. */
  private async finish(): Promise<void> {
    for (const handler of this.handlers) {
      for (const job of handler.backlog.splice(0)) {
        if (this.jobs.delete(job.token) && job.isBeating) this.settlers.get(job.queue)?.add(job, { kind: "released" });
      }
    }
    await this.empty(this.graceS, this.hurrying.signal);
    for (const job of this.jobs.values()) job.tell("stopping");
    await this.empty(LAST_WORDS_S);
    for (const job of [...this.jobs.values()]) {
      const handler = this.handlers.find(({ queue }) => queue === job.queue) as Handler;
      this.finished(handler, job, { kind: "failed", error: "the handler did not stop" });
    }
    const settled = Promise.all([...this.settlers.values()].map((settler) => settler.idle()));
    const isTold = await Promise.race([settled.then(() => true), this.after(this.graceS + LAST_WORDS_S, settled)]);
    if (!isTold) this.warn("the outcomes of some tasks could not be told");
    await this.lines.idle(LAST_WORDS_S);
  }

  private async after(seconds: number, unless: Promise<unknown>): Promise<boolean> {
    const over = new AbortController();
    void unless.finally(() => over.abort());
    await sleep(seconds, over.signal);
    return over.signal.aborted;
  }

  /** Waits until no handler runs, for so long at most. */
  private async empty(seconds: number, unless?: AbortSignal): Promise<void> {
    const until = now() + seconds;
    while (this.jobs.size && now() < until && !unless?.aborted) {
      const over = new AbortController();
      const end = () => over.abort();
      unless?.addEventListener("abort", end);
      void this.change().then(end);
      await sleep(until - now(), over.signal);
      unless?.removeEventListener("abort", end);
    }
  }
}

function room(handler: Handler): number {
  return handler.concurrency + handler.prefetch - handler.running - handler.backlog.length;
}
