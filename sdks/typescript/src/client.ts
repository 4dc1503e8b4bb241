// The client: every operation, pushes that gather into batches by themselves, and the event stream.

import { Api } from "./api.js";
import { ApiError, NoAnswer, PunctualError, Unreachable, errorOfItem } from "./errors.js";
import { type Event, Reader } from "./events.js";
import { broken, encode, path, pauseOf, problem, sleep } from "./transport.js";
import type { NewTask, Result, Task } from "./types.js";

/** One request carries at most so many tasks and characters. The server takes more; this keeps each answer quick. */
const ITEMS_MAX = 1_000;
const CHARS_MAX = 4 << 20;
/** The server says something at least every 15 seconds. */
const SILENCE_MAX_S = 45;

/** A task that the server has, durably. */
export interface Pushed {
  queue: string;
  id: string;
}

/** A task as it is pushed, with a payload of a known type; members of newer servers are passed on. */
export type PushOptions = Omit<NewTask, "payload"> & { [more: string]: unknown };

type Waiting = { item: string; resolve: (pushed: Pushed) => void; reject: (error: unknown) => void };

export class Client extends Api {
  private readonly waiting = new Map<string, Waiting[]>();

  /**
   * Pushes a task, durably. Pushes that come while a request is under way go together in the next one; each caller
   * gets its own answer.
   */
  async push<P = unknown>(queue: string, payload?: P, options: PushOptions = {}): Promise<Pushed> {
    const item = encode(payload === undefined ? options : { ...options, payload });
    return new Promise((resolve, reject) => {
      const waiting = this.waiting.get(queue);
      if (waiting) {
        waiting.push({ item, resolve, reject });
      } else {
        this.waiting.set(queue, [{ item, resolve, reject }]);
        void this.sendWaiting(queue);
      }
    });
  }

  /** Pushes tasks, at most 1,000 in a request. Each answers for itself: look at `ok` and `code`. */
  async pushMany(queue: string, tasks: NewTask[]): Promise<Result[]> {
    const results: Result[] = [];
    let items = tasks.map((task) => encode(task));
    while (items.length) {
      const number = portion(items);
      results.push(...(await this.sendBatch(queue, items.slice(0, number))));
      items = items.slice(number);
    }
    return results;
  }

  /** Waits until a task has ended, and reads it; an error if it has not after `timeout` seconds. */
  async waitFor(queue: string, id: string, timeout = 60): Promise<Task> {
    const until = performance.now() / 1000 + timeout;
    for (let pause = 0.02, canWait = true; ; ) {
      const left = Math.max(until - performance.now() / 1000, 0);
      const wait = canWait ? Math.min(left, 30).toFixed(3) : undefined;
      let task: Task;
      try {
        const where = path("/v1/queues/{queue}/tasks/{id}", queue, id);
        task = await this.json<Task>({ method: "GET", path: where, query: { wait } });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 422 || !canWait) throw error;
        canWait = false; // An older server: it is asked again and again.
        continue;
      }
      if (["done", "failed", "cancelled"].includes(task.state)) return task;
      if (left <= 0) throw new PunctualError(`task ${id} of ${queue} is ${task.state} after ${timeout} s`);
      if (!canWait) {
        await sleep(Math.min(pause, left));
        pause = Math.min(pause * 2, 1);
      }
    }
  }

  /**
   * Everything that happens, as it happens, until `signal` ends it. A stream that breaks off is opened again where it
   * was; the event `stream.gap` says that some are missing. `queue` and `type` select, separated by commas.
   */
  async *events(
    options: { queue?: string; type?: string; lastEventId?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<Event, void, void> {
    const reader = new Reader(options.lastEventId);
    for (let failures = 0; !options.signal?.aborted; failures++) {
      let error: unknown = new NoAnswer("the stream ended");
      try {
        for await (const event of this.stream(reader, options)) {
          failures = 0;
          yield event;
        }
      } catch (caught) {
        if (!(caught instanceof Unreachable) && !(caught instanceof NoAnswer)) throw caught;
        error = caught;
      }
      reader.restart();
      await sleep(pauseOf(failures, error), options.signal);
    }
  }

  private async *stream(
    reader: Reader,
    options: { queue?: string; type?: string; signal?: AbortSignal },
  ): AsyncGenerator<Event, void, void> {
    const silence = new AbortController();
    const stop = () => silence.abort();
    options.signal?.addEventListener("abort", stop);
    let timer = setTimeout(stop, SILENCE_MAX_S * 1000);
    try {
      const query = new URLSearchParams();
      if (options.queue) query.set("queue", options.queue);
      if (options.type) query.set("type", options.type);
      const headers = reader.lastId ? { ...this.head, "last-event-id": reader.lastId } : this.head;
      const answer = await this.fetching(`${this.url}/v1/events?${query}`, { headers, signal: silence.signal });
      if (!answer.ok || !answer.body) {
        throw problem(answer.status, new Uint8Array(await answer.arrayBuffer()), answer.headers.get("retry-after"));
      }
      const decoder = new TextDecoder();
      for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        timer = setTimeout(stop, SILENCE_MAX_S * 1000);
        yield* reader.read(decoder.decode(piece, { stream: true }));
      }
    } catch (error) {
      throw error instanceof PunctualError ? error : broken(this.url, error);
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", stop);
      silence.abort();
    }
  }

  private async sendWaiting(queue: string): Promise<void> {
    for (let waiting = this.waiting.get(queue) ?? []; waiting.length; waiting = this.waiting.get(queue) ?? []) {
      const number = portion(waiting.map((it) => it.item));
      this.waiting.set(queue, waiting.slice(number));
      await this.sendGroup(queue, waiting.slice(0, number));
    }
    this.waiting.delete(queue);
  }

  private async sendGroup(queue: string, group: Waiting[]): Promise<void> {
    try {
      if (group.length === 1) {
        const where = path("/v1/queues/{queue}/tasks", queue);
        const task = await this.json<{ id: string }>({ method: "POST", path: where, raw: group[0].item, isKeyed: true });
        group[0].resolve({ queue, id: task.id });
        return;
      }
      const results = await this.sendBatch(queue, group.map((it) => it.item));
      results.forEach((result, index) => {
        if (result.ok) group[index].resolve({ queue, id: result.id as string });
        else group[index].reject(errorOfItem(result));
      });
    } catch (error) {
      // The refusal of a batch may be the fault of one item: each gets its own answer.
      if (group.length > 1 && error instanceof ApiError && [400, 413, 422].includes(error.status)) {
        for (const it of group) await this.sendGroup(queue, [it]);
      } else {
        for (const it of group) it.reject(error);
      }
    }
  }

  private async sendBatch(queue: string, items: string[]): Promise<Result[]> {
    const raw = `{"tasks":[${items.join(",")}]}`;
    const where = path("/v1/queues/{queue}/tasks", queue);
    return (await this.json<{ results: Result[] }>({ method: "POST", path: where, raw, isKeyed: true })).results;
  }
}

/** How many of the first items go into one request: at least one. */
export function portion(items: string[]): number {
  let size = 0;
  for (let index = 0; index < Math.min(items.length, ITEMS_MAX); index++) {
    size += items[index].length;
    if (index && size > CHARS_MAX) return index;
  }
  return Math.min(items.length, ITEMS_MAX);
}
