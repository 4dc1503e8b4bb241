// A task as its handler sees it, and what a handler may throw.

import { PunctualError } from "./errors.js";
import { encode } from "./transport.js";
import type { Duration, Task as Record_ } from "./types.js";

/** Why a handler should stop. `lost`: another worker may have the task by now. `stopping`: the program ends. */
export type StopReason = "cancelled" | "paused" | "lost" | "stopping";

/** Thrown by a handler: the task failed. `retryIn` replaces the queue's own wait; `permanent`: no retry. */
export class Fail extends PunctualError {
  readonly retryIn?: Duration;
  readonly permanent: boolean;

  constructor(message: string, options: { retryIn?: Duration; permanent?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryIn = options.retryIn;
    this.permanent = options.permanent ?? false;
  }
}

/** Thrown by a handler: the task is given back, and this attempt does not count. */
export class Release extends PunctualError {
  constructor(readonly delay?: Duration) {
    super("given back");
  }
}

/** The reason of a task's `signal`, and what `check` throws. */
export class Stopped extends PunctualError {
  constructor(readonly reason: StopReason) {
    super(reason);
  }
}

/** Reports of a handler that the server has not heard. */
export interface Report {
  progress?: number;
  message?: string;
  /** JSON already. */
  checkpoint?: string;
}

/** A line from a task to the worker that runs its handler. */
export interface Link {
  report(what: Report): void;
  log(line: string): void;
}

/** A task to carry out, and a line to the server while that lasts. `P` is the type of its payload. */
export class Task<P = any, C = any> {
  readonly queue: string;
  readonly id: string;
  readonly payload: P;
  readonly attempt: number;
  /** The checkpoint of an earlier attempt, or the one saved by this attempt. */
  checkpoint: C | null;

  constructor(
    /** The task as the server handed it out. */
    readonly record: Record_,
    /** Aborted when the handler should stop, with a `Stopped` as its reason; pass it to `fetch` and the like. */
    readonly signal: AbortSignal,
    private readonly link: Link,
  ) {
    this.queue = record.queue;
    this.id = record.id;
    this.payload = record.payload as P;
    this.attempt = record.attempt;
    this.checkpoint = (record.checkpoint ?? null) as C | null;
  }

  /** Why the handler should stop; undefined: it should not. */
  get stopReason(): StopReason | undefined {
    return this.signal.aborted ? (this.signal.reason as Stopped).reason : undefined;
  }

  /** Throws if the handler should stop; what is acknowledged then follows from the reason. */
  check(): void {
    if (this.signal.aborted) throw this.signal.reason;
  }

  /** Says how far it is, from 0 to 1, and a word on where. Sent at most once a second. */
  progress(progress: number, message?: string): void {
    const said: Report = { progress: Math.min(Math.max(progress, 0), 1) };
    if (message !== undefined) said.message = message;
    this.link.report(said);
  }

  /** Leaves what the next attempt needs to go on. It is sent within a second, or with the outcome. */
  saveCheckpoint(checkpoint: C): void {
    this.link.report({ checkpoint: encode(checkpoint) });
    this.checkpoint = checkpoint;
  }

  /** Adds a line to the task's log. */
  log(line: string): void {
    this.link.log(line);
  }
}
