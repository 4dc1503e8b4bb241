// Heartbeats of all tasks under way, one batch per queue, and the lines of their logs.

import type { Client } from "./client.js";
import { ApiError, isPassing } from "./errors.js";
import { type Job, now } from "./job.js";
import { withMember } from "./settle.js";
import type { Report } from "./task.js";
import { path, pauseOf, sleep } from "./transport.js";
import type { Result } from "./types.js";

/** Heartbeats that fall due within this share of their interval go along with those that are due. */
const EARLY = 0.25;
/** Not more than the server takes in a batch; the rest is due at once. */
const BATCH_MAX = 1_000;
/** Lines that come within that time go together. */
const GATHER_LINES_S = 0.2;

/** Keeps holds, sends reports, and hears of cancel and pause. */
export class Beats {
  private timer?: NodeJS.Timeout;
  private isBeating = false;
  private isOver = false;

  constructor(
    private readonly client: Client,
    private readonly jobs: Map<string, Job>,
    private readonly warn: (text: string) => void,
  ) {}

  /** There is something new to send, or another task. */
  wake(): void {
    if (this.isBeating || this.isOver) return;
    clearTimeout(this.timer);
    const due = [...this.jobs.values()].filter((job) => job.isBeating).map((job) => job.dueAt());
    if (!due.length) return;
    const wait = Math.max(Math.min(...due) - now(), 0);
    this.timer = setTimeout(() => void this.beatAll(), wait * 1000);
  }

  close(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private async beatAll(): Promise<void> {
    this.isBeating = true;
    const beating = [...this.jobs.values()].filter((job) => job.isBeating);
    const queues = new Set(beating.filter((job) => job.dueAt() <= now() + 0.001).map((job) => job.queue));
    await Promise.all([...queues].map((queue) => this.beat(queue, beating)));
    this.isBeating = false;
    this.wake();
  }

  private async beat(queue: string, beating: Job[]): Promise<void> {
    const sentAt = now();
    const isDue = (job: Job) => job.queue === queue && job.dueAt() - job.beatS * EARLY <= sentAt;
    const jobs = beating.filter(isDue).slice(0, BATCH_MAX);
    const reports = jobs.map((job) => job.unsent());
    const items = jobs.map((job, index) => {
      const { checkpoint, ...said } = reports[index];
      if (Object.keys(reports[index]).length) job.reportedAt = sentAt;
      return withMember({ id: job.id, token: job.token, ...said }, "checkpoint", checkpoint);
    });
    try {
      const where = path("/v1/queues/{queue}/extend", queue);
      const raw = `{"tasks":[${items.join(",")}]}`;
      const told = await this.client.json<{ results: Result[] }>({ method: "POST", path: where, raw });
      jobs.forEach((job, index) => this.heard(job, reports[index], told.results[index], sentAt));
    } catch (error) {
      jobs.forEach((job, index) => this.missed(job, reports[index], error));
    }
  }

  private heard(job: Job, report: Report, result: Result, sentAt: number): void {
    if (result.ok) {
      job.renew(sentAt);
      if (result.cancel) job.tell("cancelled");
      else if (result.pause) job.tell("paused");
    } else if (["stale_token", "not_found", "wrong_state"].includes(result.code ?? "")) {
      job.tell("lost");
      job.isBeating = false;
    } else if (Object.keys(report).length) {
      // The report is at fault, a checkpoint over the limit perhaps: the hold is kept without it.
      this.warn(`task ${job.id} of ${job.queue}: a report was refused: ${result.detail}`);
      job.nextBeat = now();
    } else {
      job.nextBeat = sentAt + job.beatS / 3;
    }
  }

  private missed(job: Job, report: Report, error: unknown): void {
    if (!isPassing(error) || now() >= job.heldUntil) {
      job.tell("lost");
      job.isBeating = false;
    } else {
      job.putBack(report);
      job.reportedAt = now();
      job.nextBeat = now() + Math.max(job.beatS / 3, pauseOf(0, error));
    }
  }
}

/** Sends log lines as they come; they may be lost, tasks never wait for them. */
export class LogLines {
  private readonly sending = new Map<Job, Promise<void>>();
  /** Undefined until the server has answered once. */
  private isKnown?: boolean;

  constructor(private readonly client: Client) {}

  wake(job: Job): void {
    if (this.isKnown === false) {
      job.lines();
    } else if (!this.sending.has(job)) {
      this.sending.set(job, this.send(job).finally(() => this.sending.delete(job)));
    }
  }

  async idle(timeout: number): Promise<void> {
    await Promise.race([Promise.all(this.sending.values()), sleep(timeout)]);
  }

  private async send(job: Job): Promise<void> {
    if (job.isRunning) await sleep(GATHER_LINES_S);
    const where = path("/v1/queues/{queue}/tasks/{id}/log", job.queue, job.id);
    for (let lines = job.lines(); lines.length; lines = job.lines()) {
      try {
        await this.client.none({ method: "POST", path: where, body: { token: job.token, lines } });
        this.isKnown = true;
      } catch (error) {
        if (error instanceof ApiError && [404, 405].includes(error.status) && !this.isKnown) {
          this.isKnown = false; // A server from before there were logs.
          job.lines();
        }
      }
    }
  }
}
