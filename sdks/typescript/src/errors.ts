// Errors of requests, and whether the request may have taken effect all the same.

import type { Result } from "./types.js";

/** Base of everything this package throws. */
export class PunctualError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No connection could be made. Nothing was sent. */
export class Unreachable extends PunctualError {}

/** The connection broke, or no answer came in time. The request may have taken effect. */
export class NoAnswer extends PunctualError {}

/** The server refused the request. `code` is stable and for programs, `detail` is a sentence for people. */
export class ApiError extends PunctualError {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    /** "none" or "unknown" where the server cannot write at the moment. */
    readonly effect?: string,
    /** Seconds after which to ask again. */
    readonly retryAfter?: number,
  ) {
    super(detail ? `${code}: ${detail}` : code);
  }
}

// The status of an item's code where a batch answers 200.
const STATUSES: Record<string, number> = {
  bad_json: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  duplicate: 409,
  stale_token: 409,
  wrong_state: 409,
  changed: 412,
  too_large: 413,
  unsupported: 415,
  invalid: 422,
  queue_full: 429,
  limited: 429,
  unavailable: 503,
};

/** The error of one item of a batch. */
export function errorOfItem(result: Result): ApiError {
  const code = result.code ?? "invalid";
  return new ApiError(STATUSES[code] ?? 422, code, result.detail ?? "");
}

/** Whether the same request may succeed later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof Unreachable || error instanceof NoAnswer;
}
