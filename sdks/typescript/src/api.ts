// Every operation of the server, a method each.
//
// Written by `sdks/generate` from /openapi.json: change nothing here by hand.

import { Transport, path } from "./transport.js";
import type * as t from "./types.js";

/** Every operation of the server, a method each. */
export class Api extends Transport {
  /** Whether the server runs. */
  livez(): Promise<t.Live> {
    return this.json<t.Live>({ method: "GET", path: "/livez" });
  }

  /** Read what is measured, for Prometheus. */
  metrics(): Promise<string> {
    return this.text({ method: "GET", path: "/metrics" });
  }

  /** Whether the server can do its work. */
  readyz(): Promise<t.Ready> {
    return this.json<t.Ready>({ method: "GET", path: "/readyz" });
  }

  /** Say what the token that was sent is good for. Any token may ask. */
  access(): Promise<t.Access> {
    return this.json<t.Access>({ method: "GET", path: "/v1/access" });
  }

  /** Copy the store into one file, as it is at this moment. Only the embedded store is copied. */
  backUp(): Promise<Uint8Array> {
    return this.bytes({ method: "POST", path: "/v1/backup" });
  }

  /** Move the server's clock, as if it had slept; only with `serve --dev`. */
  moveClock(body: t.Move = {}): Promise<t.Clock> {
    return this.json<t.Clock>({ method: "POST", path: "/v1/dev/clock", body, isRepeated: false });
  }

  /** Group failed tasks by queue and error, those that failed last first. */
  listFailures(options: { queue?: string; cursor?: string } = {}): Promise<t.FailureGroupPage> {
    return this.json<t.FailureGroupPage>({ method: "GET", path: "/v1/failures", query: { queue: options.queue, cursor: options.cursor } });
  }

  /** List flows by id, without their steps. */
  listFlows(options: { state?: t.FlowState; limit?: number; cursor?: string } = {}): Promise<t.FlowSummaryPage> {
    return this.json<t.FlowSummaryPage>({ method: "GET", path: "/v1/flows", query: { state: options.state, limit: options.limit, cursor: options.cursor } });
  }

  /** Make a flow. */
  createFlow(body: t.NewFlow, options: { idempotencyKey?: string | null; traceparent?: string | null } = {}): Promise<t.Flow> {
    return this.json<t.Flow>({ method: "POST", path: "/v1/flows", body, headers: { "idempotency-key": options.idempotencyKey, "traceparent": options.traceparent }, isKeyed: true });
  }

  /** Read a flow with all its steps. */
  getFlow(id: string): Promise<t.Flow> {
    return this.json<t.Flow>({ method: "GET", path: path("/v1/flows/{id}", id) });
  }

  /** End a flow: no step is started any more, and tasks that have not ended are cancelled. */
  cancelFlow(id: string): Promise<t.Flow> {
    return this.json<t.Flow>({ method: "POST", path: path("/v1/flows/{id}/cancel", id) });
  }

  /** Set a flow aside: no step is started, tasks that nobody began are paused, running ones finish. */
  pauseFlow(id: string): Promise<t.Flow> {
    return this.json<t.Flow>({ method: "POST", path: path("/v1/flows/{id}/pause", id) });
  }

  /** Let a paused flow go on. */
  resumeFlow(id: string): Promise<t.Flow> {
    return this.json<t.Flow>({ method: "POST", path: path("/v1/flows/{id}/resume", id) });
  }

  /** Make the failed and cancelled steps of a flow again; those that are done stay done. */
  retryFlow(id: string): Promise<t.Flow> {
    return this.json<t.Flow>({ method: "POST", path: path("/v1/flows/{id}/retry", id) });
  }

  /** List the targets of deliveries: those that something is under way for, and those known of late. */
  listHosts(): Promise<t.HostPage> {
    return this.json<t.HostPage>({ method: "GET", path: "/v1/hosts" });
  }

  /** List notices. */
  listNotices(options: { state?: string; limit?: number; cursor?: string } = {}): Promise<t.NoticePage> {
    return this.json<t.NoticePage>({ method: "GET", path: "/v1/notices", query: { state: options.state, limit: options.limit, cursor: options.cursor } });
  }

  /** Send a notice. */
  pushNotice(body: t.Message, options: { idempotencyKey?: string | null; traceparent?: string | null } = {}): Promise<t.Notice> {
    return this.json<t.Notice>({ method: "POST", path: "/v1/notices", body, headers: { "idempotency-key": options.idempotencyKey, "traceparent": options.traceparent }, isKeyed: true });
  }

  /** Send a notice no more, also if one is under way. It reads as `cancelled` for 24 h. */
  cancelNotice(id: string): Promise<void> {
    return this.none({ method: "DELETE", path: path("/v1/notices/{id}", id) });
  }

  /** Read a notice. */
  getNotice(id: string): Promise<t.Notice> {
    return this.json<t.Notice>({ method: "GET", path: path("/v1/notices/{id}", id) });
  }

  /** Send one more notice now: of one that is exhausted, or one that waits for its next. */
  retryNotice(id: string): Promise<t.Notice> {
    return this.json<t.Notice>({ method: "POST", path: path("/v1/notices/{id}/retry", id) });
  }

  /** List plans, by station and id or by the time they wait for. */
  listPlans(options: { queue?: string; station?: string; state?: t.PlanState; order?: string; limit?: number; cursor?: string } = {}): Promise<t.PlanPage> {
    return this.json<t.PlanPage>({ method: "GET", path: "/v1/plans", query: { queue: options.queue, station: options.station, state: options.state, order: options.order, limit: options.limit, cursor: options.cursor } });
  }

  /** Make a plan. */
  createPlan(body: t.NewPlan = {}, options: { idempotencyKey?: string | null } = {}): Promise<t.Plan> {
    return this.json<t.Plan>({ method: "POST", path: "/v1/plans", body, headers: { "idempotency-key": options.idempotencyKey }, isKeyed: true });
  }

  /** Tell when a plan with such a rule would run. Nothing is stored. */
  previewPlan(body: t.Preview): Promise<t.TimePage> {
    return this.json<t.TimePage>({ method: "POST", path: "/v1/plans/preview", body });
  }

  /** Delete a plan. Its run that has not ended goes on, unheard. */
  deletePlan(id: string): Promise<void> {
    return this.none({ method: "DELETE", path: path("/v1/plans/{id}", id) });
  }

  /** Read a plan. */
  getPlan(id: string): Promise<t.Plan> {
    return this.json<t.Plan>({ method: "GET", path: path("/v1/plans/{id}", id) });
  }

  /** Make a plan under an id, or give the one there another rule; what it has counted stays. */
  putPlan(id: string, body: t.NewPlan = {}, options: { ifMatch?: string } = {}): Promise<t.Plan> {
    return this.json<t.Plan>({ method: "PUT", path: path("/v1/plans/{id}", id), body, headers: { "if-match": options.ifMatch } });
  }

  /** Tell when a plan will run next, if every run ends in time. */
  planOccurrences(id: string, options: { n?: number } = {}): Promise<t.TimePage> {
    return this.json<t.TimePage>({ method: "GET", path: path("/v1/plans/{id}/occurrences", id), query: { n: options.n } });
  }

  /** Set a plan aside. Its run that has not ended goes on, and counts. */
  pausePlan(id: string): Promise<t.Plan> {
    return this.json<t.Plan>({ method: "POST", path: path("/v1/plans/{id}/pause", id) });
  }

  /** List what is kept of a plan's runs, the newest first. */
  planResults(id: string, options: { limit?: number; cursor?: string } = {}): Promise<t.PlanResultPage> {
    return this.json<t.PlanResultPage>({ method: "GET", path: path("/v1/plans/{id}/results", id), query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Let a plan go on that was paused, or that stopped because a run failed for good. */
  resumePlan(id: string): Promise<t.Plan> {
    return this.json<t.Plan>({ method: "POST", path: path("/v1/plans/{id}/resume", id) });
  }

  /** Run a plan now, besides its rule. The run is not counted. */
  runPlan(id: string): Promise<t.Plan> {
    return this.json<t.Plan>({ method: "POST", path: path("/v1/plans/{id}/run", id), isRepeated: false });
  }

  /** Pass over the next occurrences of a plan. */
  skipPlan(id: string, body: t.Skip = {}): Promise<t.Plan> {
    return this.json<t.Plan>({ method: "POST", path: path("/v1/plans/{id}/skip", id), body, isRepeated: false });
  }

  /** List queues, by name. */
  listQueues(options: { tag?: string; mode?: t.Mode; limit?: number; cursor?: string } = {}): Promise<t.QueuePage> {
    return this.json<t.QueuePage>({ method: "GET", path: "/v1/queues", query: { tag: options.tag, mode: options.mode, limit: options.limit, cursor: options.cursor } });
  }

  /** Delete a queue and all it holds. */
  deleteQueue(queue: string): Promise<void> {
    return this.none({ method: "DELETE", path: path("/v1/queues/{queue}", queue) });
  }

  /** Read a queue: its settings, and what it holds. */
  getQueue(queue: string): Promise<t.Queue> {
    return this.json<t.Queue>({ method: "GET", path: path("/v1/queues/{queue}", queue) });
  }

  /** Create a queue, or change its settings. */
  putQueue(queue: string, body: t.Settings = {}, options: { ifMatch?: string } = {}): Promise<t.Queue> {
    return this.json<t.Queue>({ method: "PUT", path: path("/v1/queues/{queue}", queue), body, headers: { "if-match": options.ifMatch } });
  }

  /** List bundles, by key. */
  listBundles(queue: string, options: { state?: string; key?: string; limit?: number; cursor?: string } = {}): Promise<t.BundlePage> {
    return this.json<t.BundlePage>({ method: "GET", path: path("/v1/queues/{queue}/bundles", queue), query: { state: options.state, key: options.key, limit: options.limit, cursor: options.cursor } });
  }

  /** Ask for a bundle that is due. It is marked as started, and nobody else is told of it for a while. */
  scheduleBundle(queue: string, body: t.BundleSchedule = {}): Promise<t.BundleScheduled> {
    return this.json<t.BundleScheduled>({ method: "POST", path: path("/v1/queues/{queue}/bundles/schedule", queue), body });
  }

  /** Remove a bundle and all that is in it. */
  deleteBundle(queue: string, key: string): Promise<void> {
    return this.none({ method: "DELETE", path: path("/v1/queues/{queue}/bundles/{key}", queue, key) });
  }

  /** Read a bundle and its first payloads. */
  readBundle(queue: string, key: string): Promise<t.Bundle> {
    return this.json<t.Bundle>({ method: "GET", path: path("/v1/queues/{queue}/bundles/{key}", queue, key) });
  }

  /** The first payloads are done: they go, and the lock with them. */
  completeBundle(queue: string, key: string, body: t.BundleComplete): Promise<t.BundleCompleted> {
    return this.json<t.BundleCompleted>({ method: "POST", path: path("/v1/queues/{queue}/bundles/{key}/complete", queue, key), body });
  }

  /** Add strings to those kept with a bundle, and take others away. */
  changeData(queue: string, key: string, body: t.BundleData = {}): Promise<t.Bundle> {
    return this.json<t.Bundle>({ method: "POST", path: path("/v1/queues/{queue}/bundles/{key}/data", queue, key), body });
  }

  /** Lock a bundle and get its first payloads, due or not. */
  getBundle(queue: string, key: string, body: t.BundleGet): Promise<t.BundleGot> {
    return this.json<t.BundleGot>({ method: "POST", path: path("/v1/queues/{queue}/bundles/{key}/get", queue, key), body });
  }

  /** Push a payload into a bundle. */
  pushBundle(queue: string, key: string, body: t.BundlePush, options: { idempotencyKey?: string | null } = {}): Promise<t.BundlePushed> {
    return this.json<t.BundlePushed>({ method: "POST", path: path("/v1/queues/{queue}/bundles/{key}/push", queue, key), body, headers: { "idempotency-key": options.idempotencyKey }, isKeyed: true });
  }

  /** Give a bundle back without having dealt with it. */
  releaseBundle(queue: string, key: string, body: t.BundleRelease): Promise<t.BundleReleased> {
    return this.json<t.BundleReleased>({ method: "POST", path: path("/v1/queues/{queue}/bundles/{key}/release", queue, key), body });
  }

  /** Have a bundle dealt with now that failed, or that waits for its time or its next attempt. */
  retryBundle(queue: string, key: string): Promise<t.Bundle> {
    return this.json<t.Bundle>({ method: "POST", path: path("/v1/queues/{queue}/bundles/{key}/retry", queue, key) });
  }

  /** Say that tasks are done. */
  commitMany(queue: string, body: t.CommitItemBatch): Promise<t.Results> {
    return this.json<t.Results>({ method: "POST", path: path("/v1/queues/{queue}/commit", queue), body });
  }

  /** Hold tasks longer, and report. */
  extendMany(queue: string, body: t.ExtendItemBatch): Promise<t.Results> {
    return this.json<t.Results>({ method: "POST", path: path("/v1/queues/{queue}/extend", queue), body });
  }

  /** Say that attempts failed. */
  failMany(queue: string, body: t.FailItemBatch): Promise<t.Results> {
    return this.json<t.Results>({ method: "POST", path: path("/v1/queues/{queue}/fail", queue), body });
  }

  /** Hand out nothing until resumed. Pushes still work. */
  pauseQueue(queue: string): Promise<t.Queue> {
    return this.json<t.Queue>({ method: "POST", path: path("/v1/queues/{queue}/pause", queue) });
  }

  /** Give tasks back; the takes do not count. */
  releaseMany(queue: string, body: t.ReleaseItemBatch): Promise<t.Results> {
    return this.json<t.Results>({ method: "POST", path: path("/v1/queues/{queue}/release", queue), body });
  }

  /** Drop all tasks of a queue; its settings stay. */
  resetQueue(queue: string): Promise<t.Queue> {
    return this.json<t.Queue>({ method: "POST", path: path("/v1/queues/{queue}/reset", queue) });
  }

  /** Hand out tasks again. */
  resumeQueue(queue: string): Promise<t.Queue> {
    return this.json<t.Queue>({ method: "POST", path: path("/v1/queues/{queue}/resume", queue) });
  }

  /** Say how many workers a queue has and needs, as this server has seen lately. */
  scaleQueue(queue: string): Promise<t.Scale> {
    return this.json<t.Scale>({ method: "GET", path: path("/v1/queues/{queue}/scale", queue) });
  }

  /** Take tasks. */
  take(queue: string, body: t.Take = {}): Promise<t.Taken> {
    return this.json<t.Taken>({ method: "POST", path: path("/v1/queues/{queue}/take", queue), body });
  }

  /** List tasks. `state=ready` lists them in the order in which they are handed out. */
  listTasks(queue: string, options: { state?: string; tag?: string; id?: string; worker?: string; error?: string; q?: string; since?: t.When; payload?: any; sort?: "newest" | "oldest"; limit?: number; cursor?: string } = {}): Promise<t.TaskPage> {
    return this.json<t.TaskPage>({ method: "GET", path: path("/v1/queues/{queue}/tasks", queue), query: { state: options.state, tag: options.tag, id: options.id, worker: options.worker, error: options.error, q: options.q, since: options.since, payload: options.payload, sort: options.sort, limit: options.limit, cursor: options.cursor } });
  }

  /** Push one task, or many. */
  pushTask(queue: string, body: t.NewTask = {}, options: { wait?: t.Duration; idempotencyKey?: string | null; traceparent?: string | null } = {}): Promise<t.TaskOrGone> {
    return this.json<t.TaskOrGone>({ method: "POST", path: path("/v1/queues/{queue}/tasks", queue), body, query: { wait: options.wait }, headers: { "idempotency-key": options.idempotencyKey, "traceparent": options.traceparent }, isKeyed: true });
  }

  /** Do the same to all tasks that match, at most 1000 per call. */
  bulkTasks(queue: string, body: t.Bulk): Promise<t.Bulked> {
    return this.json<t.Bulked>({ method: "POST", path: path("/v1/queues/{queue}/tasks/bulk", queue), body });
  }

  /** Remove a task, whatever its state. */
  deleteTask(queue: string, id: string): Promise<void> {
    return this.none({ method: "DELETE", path: path("/v1/queues/{queue}/tasks/{id}", queue, id) });
  }

  /** Read a task, now or when it has ended. */
  getTask(queue: string, id: string, options: { wait?: t.Duration } = {}): Promise<t.TaskOrGone> {
    return this.json<t.TaskOrGone>({ method: "GET", path: path("/v1/queues/{queue}/tasks/{id}", queue, id), query: { wait: options.wait } });
  }

  /** Change what was pushed, while nobody has taken it. */
  editTask(queue: string, id: string, body: t.Edit = {}, options: { ifMatch?: string } = {}): Promise<t.Task> {
    return this.json<t.Task>({ method: "PATCH", path: path("/v1/queues/{queue}/tasks/{id}", queue, id), body, headers: { "if-match": options.ifMatch } });
  }

  /** Assign a ready task of a dispatch queue to a worker, which has to confirm it. */
  assignTask(queue: string, id: string, body: t.Assign): Promise<t.Task> {
    return this.json<t.Task>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/assign", queue, id), body });
  }

  /** Cancel a task. */
  cancelTask(queue: string, id: string): Promise<t.Task> {
    return this.json<t.Task>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/cancel", queue, id) });
  }

  /** Acknowledge a cancel. */
  cancelled(queue: string, id: string, body: t.Acknowledgement): Promise<t.TaskOrGone> {
    return this.json<t.TaskOrGone>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/cancelled", queue, id), body });
  }

  /** Say that a task is done. */
  commit(queue: string, id: string, body: t.Commit): Promise<t.TaskOrGone> {
    return this.json<t.TaskOrGone>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/commit", queue, id), body });
  }

  /** Confirm an assignment: the task is `running` and its hold begins. */
  confirm(queue: string, id: string, body: t.Confirm): Promise<t.TaskOrGone> {
    return this.json<t.TaskOrGone>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/confirm", queue, id), body });
  }

  /** Hold a task longer, and report. Also how a holder hears of cancel and pause. */
  extend(queue: string, id: string, body: t.Extend): Promise<t.Extended> {
    return this.json<t.Extended>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/extend", queue, id), body });
  }

  /** Say that an attempt failed: the task waits for its retry, or is `failed`. */
  fail(queue: string, id: string, body: t.Fail): Promise<t.TaskOrGone> {
    return this.json<t.TaskOrGone>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/fail", queue, id), body });
  }

  /** Set a task aside. */
  pauseTask(queue: string, id: string): Promise<t.Task> {
    return this.json<t.Task>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/pause", queue, id) });
  }

  /** Acknowledge a pause. */
  paused(queue: string, id: string, body: t.Acknowledgement): Promise<t.TaskOrGone> {
    return this.json<t.TaskOrGone>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/paused", queue, id), body });
  }

  /** Give a task back; the take does not count. */
  release(queue: string, id: string, body: t.Release): Promise<t.TaskOrGone> {
    return this.json<t.TaskOrGone>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/release", queue, id), body });
  }

  /** Make a task like new: attempts, progress, checkpoint and history are cleared. */
  resetTask(queue: string, id: string): Promise<t.Task> {
    return this.json<t.Task>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/reset", queue, id) });
  }

  /** Let a paused task go on, from its checkpoint. */
  resumeTask(queue: string, id: string): Promise<t.Task> {
    return this.json<t.Task>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/resume", queue, id) });
  }

  /** Try a task again now that has failed or waits for its retry. */
  retryTask(queue: string, id: string, body: t.RetryNow = {}): Promise<t.Task> {
    return this.json<t.Task>({ method: "POST", path: path("/v1/queues/{queue}/tasks/{id}/retry", queue, id), body });
  }

  /** Say why a task is not running now. */
  why(queue: string, id: string): Promise<t.Why> {
    return this.json<t.Why>({ method: "GET", path: path("/v1/queues/{queue}/tasks/{id}/why", queue, id) });
  }

  /** Count what happened in the last hour. */
  stats(options: { queue?: string } = {}): Promise<t.Stats> {
    return this.json<t.Stats>({ method: "GET", path: "/v1/stats", query: { queue: options.queue } });
  }

  /** Count what happened in the last hour in each queue, for sparklines. */
  queueStats(): Promise<t.AllQueueStats> {
    return this.json<t.AllQueueStats>({ method: "GET", path: "/v1/stats/queues" });
  }

  /** Count what all queues hold together. */
  totals(): Promise<t.Totals> {
    return this.json<t.Totals>({ method: "GET", path: "/v1/stats/totals" });
  }

  /** Read how the server, its store and the servers beside it are. */
  getSystem(): Promise<t.System> {
    return this.json<t.System>({ method: "GET", path: "/v1/system" });
  }

  /** Read what was done to queues and to the server, the newest first. */
  getAudit(options: { limit?: number; cursor?: string } = {}): Promise<t.AuditedPage> {
    return this.json<t.AuditedPage>({ method: "GET", path: "/v1/system/audit", query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Read the settings that hold, and where each comes from. Secrets read as `***`. */
  getConfig(): Promise<t.Config> {
    return this.json<t.Config>({ method: "GET", path: "/v1/system/config" });
  }

  /** List the access tokens of the settings: what each is good for, not what it is. */
  getTokens(): Promise<t.Tokens> {
    return this.json<t.Tokens>({ method: "GET", path: "/v1/system/tokens" });
  }

  /** List the access tokens that were made at run time, by name. */
  listTokens(options: { limit?: number; cursor?: string } = {}): Promise<t.AccessTokenPage> {
    return this.json<t.AccessTokenPage>({ method: "GET", path: "/v1/tokens", query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Make an access token. */
  createToken(body: t.NewAccessToken): Promise<t.MadeAccessToken> {
    return this.json<t.MadeAccessToken>({ method: "POST", path: "/v1/tokens", body });
  }

  /** Revoke an access token. */
  deleteToken(name: string): Promise<void> {
    return this.none({ method: "DELETE", path: path("/v1/tokens/{name}", name) });
  }

  /** Read an access token: what it is good for and how much it was used, not what it is. */
  getToken(name: string): Promise<t.AccessToken> {
    return this.json<t.AccessToken>({ method: "GET", path: path("/v1/tokens/{name}", name) });
  }

  /** List workers, by name. */
  listWorkers(options: { queue?: string; state?: string; limit?: number; cursor?: string } = {}): Promise<t.WorkerPage> {
    return this.json<t.WorkerPage>({ method: "GET", path: "/v1/workers", query: { queue: options.queue, state: options.state, limit: options.limit, cursor: options.cursor } });
  }

  /** Leave: what the worker held is ready for others at once, and those takes do not count. */
  deleteWorker(worker: string): Promise<void> {
    return this.none({ method: "DELETE", path: path("/v1/workers/{worker}", worker) });
  }

  /** Read a worker. */
  getWorker(worker: string): Promise<t.Worker> {
    return this.json<t.Worker>({ method: "GET", path: path("/v1/workers/{worker}", worker) });
  }

  /** Join as a worker, or change what was said then. */
  putWorker(worker: string, body: t.Join = {}): Promise<t.Worker> {
    return this.json<t.Worker>({ method: "PUT", path: path("/v1/workers/{worker}", worker), body });
  }

  /** Give a worker no more tasks; it finishes what it has. */
  drainWorker(worker: string): Promise<t.Worker> {
    return this.json<t.Worker>({ method: "POST", path: path("/v1/workers/{worker}/drain", worker) });
  }

  /** Hear what is new: tasks to confirm, and what is to be stopped. It is also the heartbeat. */
  pollWorker(worker: string, body: t.Poll = {}): Promise<t.Orders> {
    return this.json<t.Orders>({ method: "POST", path: path("/v1/workers/{worker}/poll", worker), body });
  }

  /** List what a worker has: tasks it was given and has not settled, and those it has yet to vote on. */
  listHoldings(worker: string, options: { limit?: number; cursor?: string } = {}): Promise<t.TaskPage> {
    return this.json<t.TaskPage>({ method: "GET", path: path("/v1/workers/{worker}/tasks", worker), query: { limit: options.limit, cursor: options.cursor } });
  }

  /** Remove all payloads that wait under a merge key, method and service. */
  deleteMerged(mergeKey: string, method: string, service: string, options: { update?: string; ontime?: string; maxWait?: string } = {}): Promise<void> {
    return this.none({ method: "DELETE", path: path("/v3/queue/{merge_key}/{method}/{service}", mergeKey, method, service), query: { update: options.update, ontime: options.ontime, max_wait: options.maxWait } });
  }

  /** Push a payload that is delivered with all others under the same merge key, method and service. */
  pushMerged(mergeKey: string, method: string, service: string, payload: unknown, options: { update?: string; ontime?: string; maxWait?: string; idempotencyKey?: string | null } = {}): Promise<t.BundlePushed> {
    return this.json<t.BundlePushed>({ method: "POST", path: path("/v3/queue/{merge_key}/{method}/{service}", mergeKey, method, service), body: payload, query: { update: options.update, ontime: options.ontime, max_wait: options.maxWait }, headers: { "idempotency-key": options.idempotencyKey }, isKeyed: true });
  }
}
