// Sends requests and waits for their answers, with pauses while the server is away.

import { randomUUID } from "node:crypto";

import { ApiError, NoAnswer, PunctualError, Unreachable } from "./errors.js";

const DEFAULT_URL = "http://127.0.0.1:23334";
/** How long a request may take beyond the time it asked the server to wait. */
const TIMEOUT_S = 30;
const PAUSE_FIRST_S = 0.1;
const PAUSE_MAX_S = 2;
const UNITS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 };

export interface Options {
  /** The server; PUNCTUAL_URL if left out. */
  url?: string;
  /** The access token; PUNCTUAL_TOKEN if left out. */
  token?: string;
  /** How many seconds a server that is away is waited for; 10 if left out. */
  retryFor?: number;
  /** Replaces the global `fetch`, for proxies and certificates. */
  fetch?: typeof fetch;
}

/** A request, ready to be sent again and again. */
export interface Call {
  method: string;
  path: string;
  body?: unknown;
  /** A body that is JSON already. */
  raw?: string;
  query?: Record<string, unknown>;
  headers?: Record<string, string | null | undefined>;
  /** The server recognises a repeat by its Idempotency-Key. */
  isKeyed?: boolean;
  /** Whether it may be sent again when nobody knows if it took effect. */
  isRepeated?: boolean;
  signal?: AbortSignal;
}

/** One server, and how to speak to it. */
export class Transport {
  readonly url: string;
  protected readonly head: Record<string, string>;
  protected readonly fetching: typeof fetch;
  private readonly retryFor: number;

  constructor(options: Options | string = {}) {
    const given = typeof options === "string" ? { url: options } : options;
    this.url = baseUrl(given.url ?? process.env.PUNCTUAL_URL ?? DEFAULT_URL);
    const token = given.token ?? process.env.PUNCTUAL_TOKEN;
    // Compression costs more than it saves between machines of one site.
    this.head = { "user-agent": "punctual-typescript", "accept-encoding": "identity" };
    if (token) this.head.authorization = `Bearer ${token}`;
    this.retryFor = given.retryFor ?? 10;
    this.fetching = given.fetch ?? fetch;
  }

  /** Sends a request and reads its answer as JSON. */
  async json<T>(call: Call): Promise<T> {
    const text = await this.text(call);
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw new ApiError(200, "unreadable", `${this.url} does not answer as a Punctual server`);
    }
  }

  async none(call: Call): Promise<void> {
    await this.bytes(call);
  }

  async text(call: Call): Promise<string> {
    return new TextDecoder().decode(await this.bytes(call));
  }

  async bytes(call: Call): Promise<Uint8Array> {
    const until = performance.now() / 1000 + this.retryFor;
    const headers = headersOf(call, this.head);
    const raw = bodyOf(call);
    let wasUnclear = false;
    for (let failures = 0; ; failures++) {
      try {
        return await this.once(call, raw, headers);
      } catch (error) {
        if (wasUnclear && call.method === "DELETE" && error instanceof ApiError && error.status === 404) {
          return new Uint8Array(); // The first try removed it, and its answer was lost.
        }
        const wait = pauseOf(failures, error);
        if (!mayRepeat(error, call) || performance.now() / 1000 + wait > until) throw error;
        wasUnclear ||= !(error instanceof Unreachable);
        await sleep(wait);
      }
    }
  }

  private async once(call: Call, body: string | undefined, headers: Record<string, string>): Promise<Uint8Array> {
    const timeout = new AbortController();
    const wait = secondsOf((call.body as { wait?: unknown } | undefined)?.wait ?? call.query?.wait);
    const timer = setTimeout(() => timeout.abort(), (TIMEOUT_S + wait) * 1000);
    const stop = () => timeout.abort();
    call.signal?.addEventListener("abort", stop);
    try {
      const answer = await this.fetching(this.url + call.path + queryOf(call.query), {
        method: call.method,
        headers,
        body,
        signal: call.signal?.aborted ? call.signal : timeout.signal,
      });
      const content = new Uint8Array(await answer.arrayBuffer());
      if (!answer.ok) throw problem(answer.status, content, answer.headers.get("retry-after"));
      return content;
    } catch (error) {
      throw error instanceof PunctualError ? error : broken(this.url, error);
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", stop);
    }
  }
}

/** The error of a request without an answer. */
export function broken(url: string, error: unknown): PunctualError {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  const reason = cause?.code ?? cause?.message ?? String((error as Error).message ?? error);
  const codes = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];
  if (codes.includes(cause?.code ?? "")) return new Unreachable(`cannot reach ${url}: ${reason}`, { cause: error });
  return new NoAnswer(`no answer from ${url}: ${reason}`, { cause: error });
}

/** The error of an answer that is no success. */
export function problem(status: number, content: Uint8Array, retryAfter: string | null): PunctualError {
  const text = new TextDecoder().decode(content);
  const after = retryAfter === null || Number.isNaN(Number(retryAfter)) ? undefined : Number(retryAfter);
  try {
    const told = JSON.parse(text) as { code: string; detail?: string; effect?: string };
    if (typeof told.code === "string") return new ApiError(status, told.code, told.detail ?? "", told.effect, after);
  } catch {
    // Not the server's own words: see below.
  }
  if ([502, 503, 504].includes(status)) return new NoAnswer(`something between here and the server answered ${status}`);
  return new ApiError(status, "unreadable", `${status}: ${text.slice(0, 200)}`, undefined, after);
}

function headersOf(call: Call, head: Record<string, string>): Record<string, string> {
  const headers = { ...head };
  for (const [name, value] of Object.entries(call.headers ?? {})) {
    if (value !== null && value !== undefined) headers[name] = value;
  }
  if (call.isKeyed) headers["idempotency-key"] ??= randomUUID();
  if (call.method !== "GET" && call.method !== "DELETE") headers["content-type"] = "application/json";
  return headers;
}

function bodyOf(call: Call): string | undefined {
  if (call.method === "GET" || call.method === "DELETE") return undefined;
  return call.raw ?? encode(call.body ?? {});
}

/** JSON; a value that has none is an error, not a silent `undefined`. */
export function encode(value: unknown): string {
  const text = JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === "number" && !Number.isFinite(member)) throw new PunctualError(`${member} is no JSON`);
    return member;
  });
  if (text === undefined) throw new PunctualError(`${typeof value} is no JSON`);
  return text;
}

function queryOf(query: Record<string, unknown> = {}): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(Array.isArray(value) ? value.join(",") : String(value))}`);
  return parts.length ? `?${parts.join("&")}` : "";
}

/** Fills the places of a path. Everything but unreserved characters is escaped. */
export function path(template: string, ...values: string[]): string {
  let place = 0;
  return template.replace(/\{\w+\}/g, () => {
    const value = String(values[place++]);
    if (["", ".", ".."].includes(value)) {
      throw new PunctualError(`"${value}" is no name, id or key: the path would be another one`);
    }
    return encodeURIComponent(value);
  });
}

/** The length of a duration as the server reads it: seconds, or numbers with units; 0 if it is neither. */
export function secondsOf(duration: unknown): number {
  if (typeof duration === "number") return duration;
  if (typeof duration !== "string") return 0;
  if (!Number.isNaN(Number(duration))) return Number(duration);
  let seconds = 0;
  for (const [, number, unit] of duration.matchAll(/([0-9.]+)(ms|s|m|h|d)/g)) seconds += Number(number) * UNITS[unit];
  return seconds;
}

function mayRepeat(error: unknown, call: Call): boolean {
  if (call.signal?.aborted) return false;
  if (error instanceof Unreachable) return true;
  const isRepeated = call.isRepeated ?? true;
  if (error instanceof NoAnswer) return isRepeated;
  if (!(error instanceof ApiError)) return false;
  return error.code === "limited" || (error.status === 503 && (isRepeated || error.effect === "none"));
}

/** Seconds to wait after so many failures in a row: longer each time, never in step with others. */
export function pauseOf(failures: number, error: unknown, max = PAUSE_MAX_S): number {
  const wait = Math.min(PAUSE_FIRST_S * 2 ** Math.min(failures, 10), max);
  const after = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
  return Math.max(wait * (0.75 + Math.random() / 4), after);
}

/** Sleeps, but no longer than until the signal says so. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    signal?.addEventListener("abort", end);
  });
}

function baseUrl(url: string): string {
  const full = url.includes("://") ? url : `http://${url}`;
  if (!/^https?:\/\/[^/]/.test(full)) throw new PunctualError(`"${url}" is no address of a server, such as ${DEFAULT_URL}`);
  return full.replace(/\/+$/, "");
}
