// A task under way, as the worker sees it.

import { PunctualError } from "./errors.js";
import { Fail, type Link, Release, type Report, Stopped, type StopReason } from "./task.js";
import { encode } from "./transport.js";
import type { Task as Record_ } from "./types.js";

/** The least time between two heartbeats of one task, and the most. */
const BEAT_MIN_S = 0.05;
const BEAT_MAX_S = 10;
/** How often progress is reported at most. */
const REPORT_EVERY_S = 1;
/** A task whose hold is not told, such as a vote's, is held at least that long. */
const HOLD_UNKNOWN_S = 10;
/** The most that the server takes in one call. */
const LOG_CHARS_MAX = 40_000;
/** The server takes 4 KiB. */
const ERROR_BYTES_MAX = 4_000;

/** The end of a handler; a failure that a stop asked for acknowledges the stop. */
export interface Outcome {
  kind: "done" | "failed" | "released";
  /** JSON already. */
  result?: string;
  error?: string;
  retryIn?: unknown;
  permanent?: boolean;
  delay?: unknown;
  isStop?: boolean;
}

export type Verdict = Outcome["kind"] | "cancelled" | "paused" | "nothing";

export const now = (): number => performance.now() / 1000;

/** One task on its way: its hold, what its handler reported and has not been sent, and why it should stop. */
export class Job implements Link {
  readonly abort = new AbortController();
  readonly token: string;
  holdS: number;
  beatS: number;
  heldUntil: number;
  nextBeat: number;
  reportedAt = now() - REPORT_EVERY_S;
  isRunning = false;
  /** Heartbeats begin with the hold and end with the handler. */
  isBeating = false;
  isSettled = false;
  private reason?: StopReason;
  private reported: Report = {};
  private buffer: string[] = [];

  constructor(
    public record: Record_,
    private readonly wake: () => void,
    private readonly onLog: (job: Job) => void,
  ) {
    this.token = record.token as string;
    this.holdS = holdOf(record);
    this.beatS = Math.min(Math.max(this.holdS / 3, BEAT_MIN_S), BEAT_MAX_S);
    this.heldUntil = now() + this.holdS;
    this.nextBeat = now() + this.beatS;
  }

  get queue(): string {
    return this.record.queue;
  }

  get id(): string {
    return this.record.id;
  }

  /** The first reason to stop counts, but for the loss of the hold, which ends all. */
  tell(reason: StopReason): void {
    if (this.reason === "lost" || (this.reason !== undefined && reason !== "lost")) return;
    this.reason = reason;
    this.abort.abort(new Stopped(reason));
  }

  /** Its hold was extended by a request that left at `sentAt`. */
  renew(sentAt: number): void {
    this.heldUntil = sentAt + this.holdS;
    this.nextBeat = sentAt + this.beatS;
  }

  /** It was confirmed, and is held from now on. */
  confirm(record: Partial<Record_>): void {
    const { taken_at, hold_until, state } = record;
    this.record = { ...this.record, ...(taken_at && { taken_at }), ...(hold_until && { hold_until }), ...(state && { state }) };
    this.holdS = holdOf(this.record);
    this.beatS = Math.min(this.beatS, this.holdS / 3);
    this.renew(now());
    this.isBeating = true;
  }

  /** When the server should hear of it next. */
  dueAt(): number {
    if (!Object.keys(this.reported).length) return this.nextBeat;
    return Math.min(this.nextBeat, this.reportedAt + REPORT_EVERY_S);
  }

  report(what: Report): void {
    Object.assign(this.reported, what);
    this.wake();
  }

  /** Returns the reports since the last call. */
  unsent(): Report {
    const what = this.reported;
    this.reported = {};
    return what;
  }

  /** A report that could not be sent; what was said since is newer. */
  putBack(what: Report): void {
    this.reported = { ...what, ...this.reported };
  }

  log(line: string): void {
    this.buffer.push(line.slice(0, 8_000));
    if (this.buffer.length === 1) this.onLog(this);
  }

  /** Lines for one call; the rest stays. */
  lines(): string[] {
    let [size, number] = [0, 0];
    while (number < this.buffer.length && (!number || size + this.buffer[number].length <= LOG_CHARS_MAX)) {
      size += this.buffer[number++].length;
    }
    return this.buffer.splice(0, number);
  }

  /** Decides which verb the server is told. */
  verdict(outcome: Outcome): Verdict {
    if (this.reason === "lost") return "nothing";
    if (outcome.kind === "failed" && this.reason !== undefined) {
      return this.reason === "stopping" ? "released" : this.reason;
    }
    return outcome.kind;
  }
}

/** Turns a handler's value into an outcome. A value that is no JSON will not be one in the next attempt either. */
export function done(value: unknown): Outcome {
  try {
    return { kind: "done", result: value === undefined ? "null" : encode(value) };
  } catch (error) {
    return { kind: "failed", error: `the result is no JSON: ${(error as Error).message}`, permanent: true };
  }
}

/** Turns a handler's error into an outcome. */
export function failed(error: unknown, job: Job): Outcome {
  if (error instanceof Fail) {
    return { kind: "failed", error: cut(error.message), retryIn: error.retryIn, permanent: error.permanent };
  }
  if (error instanceof Release) return { kind: "released", delay: error.delay };
  if (error instanceof Stopped) return { kind: "failed", error: error.reason, isStop: true };
  if (error instanceof Error && !(error instanceof PunctualError) && !job.abort.signal.aborted) {
    for (const line of (error.stack ?? "").split("\n")) job.log(line);
  }
  return { kind: "failed", error: cut(error instanceof Error ? `${error.name}: ${error.message}` : String(error)) };
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  return bytes.length <= ERROR_BYTES_MAX ? text : bytes.subarray(0, ERROR_BYTES_MAX).toString().replace(/\uFFFD$/, "");
}

/** How many seconds a task is held without a word. */
function holdOf(record: Record_): number {
  if (!record.taken_at || !record.hold_until) return HOLD_UNKNOWN_S;
  return Math.max((Date.parse(record.hold_until) - Date.parse(record.taken_at)) / 1000, BEAT_MIN_S);
}
