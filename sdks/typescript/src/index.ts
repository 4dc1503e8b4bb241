// Client and worker for Punctual: a durable task queue, merging delay queue, webhook notifier and scheduler.

export { Punctual, type AppOptions, type TaskOptions } from "./app.js";
export { Client, type Pushed, type PushOptions } from "./client.js";
export { ApiError, NoAnswer, PunctualError, Unreachable } from "./errors.js";
export type { Event } from "./events.js";
export { Fail, Release, Stopped, Task, type StopReason } from "./task.js";
export type { Options } from "./transport.js";
export type * as types from "./types.js";
export { WebhookError, verify, type HeadersLike, type VerifyOptions } from "./webhooks.js";
