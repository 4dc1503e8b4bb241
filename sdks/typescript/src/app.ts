// A program's worker: handlers per queue, `run` until a signal comes.

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

import { Client, type PushOptions, type Pushed } from "./client.js";
import { PunctualError } from "./errors.js";
import type { Task } from "./task.js";
import type { Options } from "./transport.js";
import { type Handler, Worker } from "./worker.js";

export interface AppOptions extends Options {
  /** The worker's own name among those of its queues; made up if left out. */
  name?: string;
  /** Capabilities of the worker, for queues of mode dispatch. */
  capabilities?: string[];
  /** How many seconds handlers have after a stop; 30 if left out. */
  grace?: number;
  /** Where warnings go; `console.warn` if left out. */
  warn?: (text: string) => void;
}

export interface TaskOptions {
  /** How many tasks at a time; 16 if left out. */
  concurrency?: number;
  /** How many further tasks are taken ahead; none if left out. */
  prefetch?: number;
}

/**
 * A worker and its client.
 *
 *     const app = new Punctual();
 *     app.task<{ to: string }>("mail", (task) => `sent to ${task.payload.to}`);
 *     await app.run();
 */
export class Punctual {
  readonly name: string;
  /** The client of the same server, for pushes and everything else. */
  readonly client: Client;
  private readonly options: AppOptions;
  private readonly handlers = new Map<string, Handler>();
  private worker?: Worker;
  private ended?: Promise<void>;

  constructor(options: AppOptions | string = {}) {
    this.options = typeof options === "string" ? { url: options } : options;
    const host = hostname().replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 80) || "worker";
    this.name = this.options.name ?? `${host}-${process.pid}-${randomBytes(3).toString("hex")}`;
    this.client = new Client(this.options);
  }

  /** Pushes a task; see `Client.push`. */
  push<P = unknown>(queue: string, payload?: P, options?: PushOptions): Promise<Pushed> {
    return this.client.push(queue, payload, options);
  }

  /**
   * Has a function carry out the tasks of a queue, whatever the queue's mode: pull, dispatch or vote. Its
   * value is the task's result; an error fails the task.
   */
  task<P = any, C = any>(queue: string, run: (task: Task<P, C>) => unknown, options: TaskOptions = {}): this {
    const { concurrency = 16, prefetch = 0 } = options;
    if (!(concurrency >= 1) || !(prefetch >= 0)) throw new PunctualError("concurrency is at least 1, prefetch at least 0");
    if (this.handlers.has(queue)) throw new PunctualError(`queue ${queue} has a handler already`);
    this.handlers.set(queue, { queue, run: run as Handler["run"], concurrency, prefetch, running: 0, backlog: [] });
    return this;
  }

  /**
   * Works until SIGINT or SIGTERM, then stops gracefully; a second signal gives tasks back at once. Rejects with what
   * makes going on impossible, such as a token without the right. A server that is away is waited for.
   */
  async run(): Promise<void> {
    let signals = 0;
    const stop = () => this.stop({ hurry: signals++ > 0 });
    process.on("SIGINT", stop).on("SIGTERM", stop);
    try {
      this.start();
      await this.join();
    } finally {
      process.off("SIGINT", stop).off("SIGTERM", stop);
    }
  }

  /** Begins to work in the background. */
  start(): void {
    if (this.worker) throw new PunctualError("the worker runs already");
    if (!this.handlers.size) throw new PunctualError("no handler: call app.task(QUEUE, HANDLER)");
    const { capabilities = [], grace = 30, warn = (text: string) => console.warn(`punctual: ${text}`) } = this.options;
    // It has its own way to wait for a server that is away.
    const client = new Client({ ...this.options, retryFor: 0 });
    this.worker = new Worker(client, this.name, capabilities, grace, [...this.handlers.values()], warn);
    this.ended = this.worker.run().finally(() => (this.worker = undefined));
    // `join` reports it.
    this.ended.catch(() => undefined);
  }

  /** Takes nothing more and lets handlers finish; with `hurry` they are told to stop at once. */
  stop(options: { hurry?: boolean } = {}): void {
    this.worker?.stop(options.hurry ?? false);
  }

  /** Waits until it has ended; rejects with what ended it if that was no stop. */
  async join(): Promise<void> {
    await this.ended;
  }
}
