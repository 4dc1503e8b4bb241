// Types of requests and answers.
//
// Written by `sdks/generate` from /openapi.json: change nothing here by hand.

/** What becomes of a bundle that was scheduled but never got. */
export type Abandoned = "fail" | "drop";

/** What whoever asks may do. */
export interface Access {
  /** Whether the server has no tokens, so that everybody may do everything. */
  open: boolean;
  /** The queues they hold for, `*` at the end for any ending; null: for all. */
  queues: string[] | null;
  /** The rights. */
  rights: Right[];
}

/** A token, without what it is. */
export interface AccessToken {
  /** When it was made. */
  created_at: Time;
  expires: Time | null;
  last_used: Time | null;
  /** The limits that hold; null: none. */
  limits: AccessTokenLimitsRead;
  /** What it is called. */
  name: string;
  /** The queues it is good for, `*` at the end for any ending; null: all. */
  queues: string[] | null;
  /** Those of them that it was refused. */
  refusals: number;
  /** Requests that carried it. */
  requests: number;
  /** What it may do. */
  rights: Right[];
}

/**
 * What a token may take of each server at most; over it: 429 `limited`. A token limited to queues has 100
 * queues, 1,000 connections, 100 streams and a quarter of the bytes unless told otherwise.
 */
export interface AccessTokenLimits {
  /** Bytes of its requests that are worked on. */
  bytes_in_flight?: number | null;
  /** Connections whose last request carried it. */
  connections?: number | null;
  /** Queues that exist and that its requests made, over all servers. */
  queues?: number | null;
  requests?: AccessTokenRequests | null;
  /** Open streams of events. */
  streams?: number | null;
}

/** The limits of a token. */
export interface AccessTokenLimitsRead {
  /** Bytes of its requests that are worked on. */
  bytes_in_flight: number | null;
  /** Connections whose last request carried it. */
  connections: number | null;
  /** Queues that exist and that its requests made. */
  queues: number | null;
  requests: AccessTokenRequestsRead | null;
  /** Open streams of events. */
  streams: number | null;
}

/** So many requests in a time. */
export interface AccessTokenRequests {
  /** Requests at most, also at once. */
  limit: number;
  /** In this time. */
  per: Duration;
}

/** So many requests in so many seconds. */
export interface AccessTokenRequestsRead {
  /** Requests. */
  limit: number;
  /** Seconds. */
  per: number;
}

/** What a holder leaves behind when it stops on request. */
export interface Acknowledgement {
  /** What its next holder needs to go on. */
  checkpoint?: any;
  /** What went wrong, at most 4 KiB. */
  error?: string | null;
  /** What it came to so far. */
  result?: any;
  /** The token the take answered. */
  token: string;
}

/** Queues in which something happened. */
export interface AllQueueStats {
  /** The queues, by name; at most 2000. */
  items: QueueStats[];
}

/** Any JSON value, at most 1 MiB, kept as it was sent */
export type AnyJson = any;

/** Whom to give a task. */
export interface Assign {
  /** A registered worker that serves the queue. */
  worker: string;
}

/** One attempt. */
export interface Attempt {
  /** When it began. */
  at: Time;
  /** When it ended. */
  ended_at: Time;
  /** What went wrong, shortened. */
  error?: string | null;
  http?: Exchange | null;
  /** How it ended. */
  outcome: Outcome;
  /** The HTTP status that was answered. */
  status?: number | null;
  /** Who made it. */
  worker?: string | null;
}

/** Something that was done, or tried. */
export interface Audited {
  /** What was done. */
  action: string;
  /** When. */
  at: Time;
  /** The address the request came from. */
  from: string;
  /** The HTTP status it was answered with. */
  status: number;
  /** To which queue or task; of a refused token, what was asked for. */
  target: string;
  /**
   * Who: the first 8 digits of the token's hash, and its name if it has one; `open` where there are no tokens,
   * `unknown` for none of the server's.
   */
  who: string;
}

/** Many items, each answered by itself. */
export interface CommitItemBatch {
  tasks: CommitItem[];
}

/** Many items, each answered by itself. */
export interface ExtendItemBatch {
  tasks: ExtendItem[];
}

/** Many items, each answered by itself. */
export interface FailItemBatch {
  tasks: FailItem[];
}

/** Many items, each answered by itself. */
export interface NewTaskBatch {
  tasks: NewTask[];
}

/** Many items, each answered by itself. */
export interface ReleaseItemBatch {
  tasks: ReleaseItem[];
}

/** One verb for many tasks. */
export interface Bulk {
  /** The `next` of the call before. */
  cursor?: string | null;
  /** Count those that match and change nothing. */
  dry_run?: boolean | null;
  /** Which tasks; `{}` for all of them. */
  filter: Filter;
  /** What to do with them. */
  verb: BulkVerb;
}

/** A verb for many tasks. */
export type BulkVerb = "cancel" | "pause" | "resume" | "retry" | "reset" | "clean";

/** What one call has done. */
export interface Bulked {
  /** Tasks that are other than before. */
  changed: number;
  /** Tasks that match. */
  matched: number;
  /** The cursor of the next call; null: this was the last. */
  next: string | null;
}

/** A bundle. */
export interface Bundle {
  /** How often its delivery was tried. */
  attempt: number;
  /** When its first payload was pushed. */
  created_at: Time;
  /** The strings kept with it; only where one bundle is read. */
  data?: string[];
  /** What went wrong last. */
  error: string | null;
  /** The last 20 attempts to deliver it, oldest first; only where one bundle is read. */
  history?: Attempt[];
  /** Its key. */
  key: string;
  locked_until: Time | null;
  /** With which method, if it has a URL of its own. */
  method: string | null;
  /** When it is due. */
  ontime: Time;
  /** Its queue. */
  queue: string;
  /** How many payloads are in it. */
  size: number;
  /** `waiting`, `started` (a worker was told of it), `locked`, `delivering` or `failed`. */
  state: string;
  /** The task that delivers it; null: workers take it. */
  task: string | null;
  /** Its first payloads, at most 10,000 and 16 MiB; only where one bundle is read. */
  tasks?: any[];
  /** Where it is delivered, if that is not its queue's URL. */
  url: string | null;
}

/** What a worker is done with. */
export interface BundleComplete {
  /** How many payloads, from the first on; all that were got if left out. */
  number?: number | null;
  /** The value the bundle was got with. */
  random: string;
}

/** What is left of a bundle. */
export interface BundleCompleted {
  /** How many payloads; 0: the bundle is gone. */
  left: number;
}

/** Strings kept with a bundle. */
export interface BundleData {
  /** Strings to add. */
  add?: string[] | null;
  /** Strings to take away, after that. */
  remove?: string[] | null;
}

/** What a worker gets, and for how long. */
export interface BundleGet {
  /** How many payloads at most; all if left out. */
  number?: number | null;
  /** The caller's own value, at most 255 bytes: whoever shows it has the lock. */
  random: string;
  timeout?: Duration | null;
}

/** Payloads of a bundle. */
export interface BundleGot {
  /** The strings kept with the bundle. */
  data: string[];
  /** Until when the bundle is locked. */
  locked_until: Time;
  /** The payloads, in the order they were pushed; at most 10,000 and 16 MiB. */
  tasks: any[];
}

/** Something to push into a bundle. */
export interface BundlePush {
  /** Strings to keep with the bundle, each once. */
  data?: string[] | null;
  max_wait?: Duration | null;
  ontime?: When | null;
  /** `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays. */
  overwrite?: string | null;
  /** The payload. */
  task: any;
}

/** What a push is answered with. */
export interface BundlePushed {
  /** The bundle's key, if it is gone by now. */
  id?: string;
  /** The bundle's key; only where it was not in the request. */
  key?: string;
  ontime: Time | null;
  /** The bundle's queue, if it is gone by now. */
  queue?: string;
  /** How many payloads are in the bundle. */
  size: number;
}

/** What a worker gives back. */
export interface BundleRelease {
  ontime?: When | null;
  /** The value the bundle was got with. */
  random: string;
}

/** When a bundle that was given back is due. */
export interface BundleReleased {
  /** When it is due. */
  ontime: Time;
  /** How many payloads are in it. */
  size: number;
}

/** What a worker waits for. */
export interface BundleSchedule {
  wait?: Duration | null;
}

/** A bundle that is due. */
export interface BundleScheduled {
  /** Its key; null: none is due. */
  key: string | null;
  next_in?: DurationSeconds | null;
  /** Since when it is due; only if one is. */
  ontime?: Time;
}

/** A task to make when another ends. */
export interface Callback {
  http?: Http | null;
  /** The ends it answers to; all of them if left out. */
  on?: End[] | null;
  /** Push into this queue. */
  queue?: string | null;
  task?: NewTask | null;
}

/** The clock after it was moved. */
export interface Clock {
  /** What time it is now. */
  now: Time;
}

/** Done. */
export interface Commit {
  /** What it came to. */
  result?: any;
  /** The token the take answered. */
  token: string;
}

/** Done. */
export interface CommitItem {
  /** The task's id. */
  id: string;
  /** What it came to. */
  result?: any;
  /** The token the take answered. */
  token: string;
}

/** The settings of a server. */
export interface Config {
  /** One for each setting there is. */
  items: Setting[];
}

/** That the holder has the task. */
export interface Confirm {
  /** The token the take answered. */
  token: string;
}

/** How the data of a notice is written. */
export type ContentType = "form" | "json" | "xml";

/** The tasks of a queue, counted. */
export interface Counts {
  assigned: number;
  /** Bundles. */
  bundles: number;
  cancelled: number;
  cancelling: number;
  done: number;
  failed: number;
  paused: number;
  pausing: number;
  ready: number;
  running: number;
  /** Those somebody has. */
  taken: number;
  /** Tasks that have not ended. */
  total: number;
  /** Those nobody has: waiting, ready, paused. */
  untaken: number;
  waiting: number;
}

/** A length of time, at most 100 years */
export type Duration = number | string;

/** Seconds, whole or not */
export type DurationSeconds = number;

/** What to change about a task that nobody has taken. What is left out stays. */
export interface Edit {
  due?: When | null;
  expires?: When | null;
  /** A new payload. */
  payload?: any;
  /** A new priority, -100 to 100; null: 0. */
  priority?: number | null;
  retry?: Retry | null;
  /** New labels; null: none. */
  tags?: string[] | null;
}

/** How a task ends. */
export type End = "done" | "failed" | "cancelled";

/** What was sent and what came back. */
export interface Exchange {
  /** The address that was connected to. */
  address?: string | null;
  /** The first 4 KiB of the answer's body, while there is room for it. */
  answer?: string | null;
  /** How much of the answer's body was read. */
  answer_bytes: number;
  connect?: DurationSeconds | null;
  dns?: DurationSeconds | null;
  first_byte?: DurationSeconds | null;
  /** The method of the last request. */
  method: Method;
  /** Redirects that were followed. */
  redirects: number;
  /** The size of the body that was sent. */
  sent_bytes: number;
  tls?: DurationSeconds | null;
  /** From the beginning to the end. */
  total: DurationSeconds;
  /** The URL of the last request, shortened. */
  url: string;
}

/** More time, and how far it is. */
export interface Extend {
  /** What its next holder would need to go on. */
  checkpoint?: any;
  hold?: Duration | null;
  /** A word on where it is, at most 4 KiB. */
  message?: string | null;
  /** How far it is, from 0 to 1. */
  progress?: number | null;
  /** The token the take answered. */
  token: string;
}

/** More time, and how far it is. */
export interface ExtendItem {
  /** What its next holder would need to go on. */
  checkpoint?: any;
  hold?: Duration | null;
  /** The task's id. */
  id: string;
  /** A word on where it is, at most 4 KiB. */
  message?: string | null;
  /** How far it is, from 0 to 1. */
  progress?: number | null;
  /** The token the take answered. */
  token: string;
}

/** What a holder hears when it extends. */
export interface Extended {
  /** Whether the holder is asked to stop for good, and to say `cancelled`. */
  cancel: boolean;
  hold_until: Time | null;
  /** Whether the holder is asked to set the task aside, and to say `paused`. */
  pause: boolean;
}

/** Failed. */
export interface Fail {
  /** What went wrong, at most 4 KiB. */
  error?: string | null;
  /** Whether trying again is no use. */
  permanent?: boolean | null;
  retry_in?: Duration | null;
  /** The token the take answered. */
  token: string;
}

/** Failed. */
export interface FailItem {
  /** What went wrong, at most 4 KiB. */
  error?: string | null;
  /** The task's id. */
  id: string;
  /** Whether trying again is no use. */
  permanent?: boolean | null;
  retry_in?: Duration | null;
  /** The token the take answered. */
  token: string;
}

/** Failed tasks of one queue that failed alike. */
export interface FailureGroup {
  /** How many there are on this page. */
  count: number;
  /** The beginning of their error, fit to find them by; null: they have none. */
  error: string | null;
  /** The id of that one. */
  id: string;
  last_at: Time | null;
  /** The queue. */
  queue: string;
}

/** Which tasks; what is left out does not restrict. */
export interface Filter {
  /** Those whose error contains this. */
  error?: string | null;
  /** Those whose id begins so. */
  id?: string | null;
  /** Those whose payload contains this. */
  q?: string | null;
  since?: When | null;
  state?: States | null;
  /** Those with this tag. */
  tag?: string | null;
  /** Those that this worker holds, or held when they ended. */
  worker?: string | null;
}

/** A flow with all its steps. */
export interface Flow {
  /** How many steps it has, and in which states. */
  counts: FlowCounts;
  /** When it was made. */
  created_at: Time;
  finished_at?: Time | null;
  /** Its id. */
  id: string;
  /** What a failed step does to the others. */
  on_failure: OnFailure;
  /** Where it stands. */
  state: FlowState;
  /** Its steps, in the order given. */
  steps: FlowStep[];
}

/** How many steps a flow has, and in which states. */
export interface FlowCounts {
  /** Cancelled, with the flow or because one before it failed. */
  cancelled: number;
  /** Done. */
  done: number;
  /** Failed. */
  failed: number;
  /** Tasks that have not ended. */
  living: number;
  /** Not tasks yet. */
  pending: number;
  /** All of them. */
  total: number;
}

/** Which step of which flow a task is. */
export interface FlowPart {
  /** The flow. */
  id: string;
  /** The step. */
  step: string;
}

/** Where a flow stands. */
export type FlowState = "running" | "paused" | "cancelling" | "done" | "failed" | "cancelled";

/** A step of a flow. */
export interface FlowStep {
  /** The steps that must be done before it becomes a task. */
  after: string[];
  /** What went wrong. */
  error?: string | null;
  /** Its name. */
  name: string;
  /** The queue of its task. */
  queue: string;
  /** What it came to. */
  result: any;
  /** Whether it has a result that is not told here, because all of them together are over 8 MiB. */
  result_left_out?: boolean;
  /** `pending` until it is a task, then its task's state. */
  state: string;
  /** The id of its task. */
  task: string;
  /** Those of `after` that are not done, while it is pending. */
  waiting_for?: string[];
}

/** A flow without its steps. */
export interface FlowSummary {
  /** How many steps it has, and in which states. */
  counts: FlowCounts;
  /** When it was made. */
  created_at: Time;
  finished_at?: Time | null;
  /** Its id. */
  id: string;
  /** What a failed step does to the others. */
  on_failure: OnFailure;
  /** Where it stands. */
  state: FlowState;
}

/** What is left to say of a task that is gone. */
export interface Gone {
  /** Its id. */
  id: string;
  /** Its queue. */
  queue: string;
  /** Where it stood at its end, if that is known. */
  state?: State;
}

/** A target of deliveries, as this server sees it. */
export interface Host {
  /** Tasks that failed since it last answered, at most 10. */
  failures: number;
  /** Its host and port. */
  host: string;
  /** Attempts under way. */
  in_flight: number;
  retry_at: Time | null;
  /**
   * `closed`: it is given all it can take; `open`: it is down and given nothing; `probing`: one attempt at a
   * time shall show whether it is back.
   */
  state: HostState;
  /** Queues that have more for it than it is given. */
  waiting: number;
}

/** The state of a target's breaker. */
export type HostState = "closed" | "open" | "probing";

/** Where and how a task is delivered. */
export interface Http {
  body?: any;
  /** The type of what is sent; `application/json` if left out, `text/plain` for a text. */
  content_type?: string | null;
  /** Whether redirects are followed; they are not if left out. */
  follow_redirects?: boolean | null;
  /**
   * Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
   * `webhook-*`.
   */
  headers?: Record<string, string> | null;
  method?: Method | null;
  success?: Success | null;
  timeout?: Duration | null;
  /**
   * The target, at most 8 KiB; the queue's if left out. Private addresses are refused unless the server allows
   * them.
   */
  url?: string | null;
}

/** What a worker says about itself. What is left out stays as it was; `null` sets it back. */
export interface Join {
  /** What it is capable of, at most 64. */
  capabilities?: string[] | null;
  /** Most tasks of dispatch queues it holds at once, 1 to 10000. */
  capacity?: number | null;
  /** The queues it serves, 1 to 1000. They need not exist yet. */
  queues?: string[] | null;
  /** Which incarnation it is: another one takes everything from the one before. */
  session?: string | null;
}

/** How long finished tasks stay readable. */
export interface Keep {
  cancelled?: Duration | null;
  done?: Duration | null;
  failed?: Duration | null;
}

/** How a plan's last run stands or ended. */
export type LastState = "ok" | "running" | "error" | "no_worker" | "skipped";

/** That the server runs. */
export interface Live {
  /** Always true. */
  live: boolean;
}

/** A token that was made, and what it is. */
export interface MadeAccessToken {
  /** When it was made. */
  created_at: Time;
  expires: Time | null;
  last_used: Time | null;
  /** The limits that hold; null: none. */
  limits: AccessTokenLimitsRead;
  /** What it is called. */
  name: string;
  /** The queues it is good for, `*` at the end for any ending; null: all. */
  queues: string[] | null;
  /** Those of them that it was refused. */
  refusals: number;
  /** Requests that carried it. */
  requests: number;
  /** What it may do. */
  rights: Right[];
  /** The token: send it as `Authorization: Bearer`. It is shown this once. */
  token: string;
}

/** A notice to be sent. `callbak_url` and `enforce_repeate_notice` are taken as well. */
export interface Message {
  /** The URL to call after a success: GET, without data, with notices of its own. */
  callback_url?: string | null;
  content_type?: ContentType | null;
  /**
   * What to send. For `form` a text like `a=1&b=2` or an object, for `json` a value or a text that holds one,
   * for `xml` a well-formed text or an object that is written as XML.
   */
  data?: any;
  /** Whether all notices are sent, also after one has succeeded. */
  enforce_repeat_notice?: boolean | null;
  /** Whether redirects are followed; they are not if left out. */
  follow_redirects?: boolean | null;
  /**
   * Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
   * `webhook-*`.
   */
  headers?: Record<string, string> | null;
  http_method?: NoticeMethod | null;
  /** Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out. */
  id?: string | null;
  /** Most notices, 1 to 1000; one more than there are waits if left out. The last wait repeats. */
  max_notices?: number | null;
  /** The waits between notices; four of 600 s if left out. */
  notice_interval?: Duration[] | null;
  /** What an answer must contain to be a success; empty: any 2xx will do. `success` if left out. */
  success_flag?: string | null;
  timeout?: Duration | null;
  /** The URL to call, at most 8 KiB. Private addresses are refused unless the server allows them. */
  url: string;
}

/** A method of HTTP; small letters will do. */
export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** Who carries out a queue's tasks. */
export type Mode = "pull" | "dispatch" | "http" | "vote" | "pub";

/** How to move the clock: either of the two. */
export interface Move {
  advance?: Duration | null;
  set?: When | null;
}

/** A token to make. */
export interface NewAccessToken {
  expires?: Time | null;
  limits?: AccessTokenLimits | null;
  /** What it is called: 1 to 200 characters of A-Z a-z 0-9 . _ : @ ~ - */
  name: string;
  /** The queues it is good for, `*` at the end for any ending; left out: all. */
  queues?: string[] | null;
  /** What it may do. No right implies another. */
  rights: Right[];
}

/** A flow as it is made. */
export interface NewFlow {
  /** Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out. */
  id?: string | null;
  on_failure?: OnFailure | null;
  /** Its steps, 1 to 10000. */
  steps: NewStep[];
}

/** A plan as it is made or changed. */
export interface NewPlan {
  /** The bundle of the queue to push into instead of making tasks. */
  bundle_key?: string | null;
  callback?: Callback | null;
  /** Who made it. */
  caller?: string | null;
  /** The pattern of a rule of type cron: five fields, or six with seconds first. */
  cron?: string | null;
  /** What it is for. */
  description?: string | null;
  hold?: Duration | null;
  http?: Http | null;
  /** How many results are kept. */
  keep_results?: number | null;
  /** Their limit of attempts; -1 for none. */
  max_attempts?: number | null;
  /** The payload of its runs. */
  message?: any;
  /** Another name of `message`. */
  messages?: any;
  /** Whether occurrences that are past are kept instead of skipped. */
  no_keep?: boolean | null;
  on_error?: OnError | null;
  /**
   * Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`, or a whole number, which is written as 16 hex
   * digits; generated if left out.
   */
  plan_id?: any;
  /** Another name of `repeat`. */
  plan_repet?: number | null;
  /** When it is due, from when it repeats, or at which time of day. */
  plan_time?: any;
  plan_type?: RuleType | null;
  /** How many units lie between two runs (1 to 32767), or on which day they are. */
  plan_value?: number | null;
  /** Their priority, -100 to 100. */
  priority?: number | null;
  /** The queue its runs are pushed to; required in a new plan, and the same for ever. */
  queue?: string | null;
  /** How often it runs, -1 for ever; required if it repeats. */
  repeat?: number | null;
  /** The caller's own id for it. */
  request_id?: string | null;
  /** Capabilities their worker must have; for queues of mode dispatch. */
  requires?: string[] | null;
  retry?: Retry | null;
  /** Another name of `queue`. */
  station?: string | null;
  /** Their labels. */
  tags?: string[] | null;
  /** The IANA zone of its local times. */
  timezone?: string | null;
}

/** A step of a flow: a name, what it waits for, and the fields of its task. */
export interface NewStep {
  /** The names of the steps that must be done before it becomes a task. */
  after?: string[] | null;
  callback?: Callback | null;
  delay?: Duration | null;
  due?: When | null;
  expires?: When | null;
  hold?: Duration | null;
  http?: Http | null;
  /** Its own limit of attempts, instead of the queue's. */
  max_attempts?: number | null;
  max_runtime?: Duration | null;
  /** Its name, unique in the flow; 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`. */
  name: string;
  /** What is to be done. With `after` the results of those steps are added, as `inputs`. */
  payload?: any;
  /** -100 to 100, higher first. */
  priority?: number | null;
  /** The queue of its task. */
  queue: string;
  /** Capabilities its worker must have; in queues of mode dispatch. */
  requires?: string[] | null;
  retry?: Retry | null;
  /** Labels, at most 32 of 128 bytes. */
  tags?: string[] | null;
  unique_for?: Duration | null;
}

/** A task to push. */
export interface NewTask {
  callback?: Callback | null;
  delay?: Duration | null;
  due?: When | null;
  expires?: When | null;
  hold?: Duration | null;
  http?: Http | null;
  /** Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out. */
  id?: string | null;
  /** Its own limit of attempts, instead of the queue's. */
  max_attempts?: number | null;
  max_runtime?: Duration | null;
  /** What is to be done. */
  payload?: any;
  /** -100 to 100, higher first. */
  priority?: number | null;
  /** Capabilities its worker must have; in queues of mode dispatch. */
  requires?: string[] | null;
  retry?: Retry | null;
  /** Labels, at most 32 of 128 bytes. */
  tags?: string[] | null;
  unique_for?: Duration | null;
}

/** A server. */
export interface Node {
  /** Where it listens. */
  address: string;
  /** Its name, new with every start. */
  id: string;
  /** When it was last heard of: every ten seconds, if it is well. */
  seen_at: Time;
  /** When it began to serve. */
  started_at: Time;
  /** Whether it is the one that answers. */
  this: boolean;
  /** Its version. */
  version: string;
}

/** The body of a verb that needs none. */
export type Nothing = Record<string, any>;

/** A notice: the message, and what has become of it. */
export interface Notice {
  /** The URL that is called after a success. */
  callback_url: string | null;
  /** How the data is written. */
  content_type: ContentType;
  /** When it was taken. */
  created_at: Time;
  /** What is sent, as it was given. */
  data: any;
  /** Whether all notices are sent, also after one has succeeded. */
  enforce_repeat_notice: boolean;
  /** What went wrong last. */
  error: string | null;
  finished_at: Time | null;
  /** Whether redirects are followed. */
  follow_redirects: boolean;
  /** Headers that are sent; values of secret ones read as `***`. */
  headers: Record<string, string>;
  /** The last 20 notices, oldest first. */
  history: SentNotice[];
  /** How. */
  http_method: NoticeMethod;
  /** Its id. */
  id: string;
  /** Most notices. */
  max_notices: number | null;
  /** Notices that were sent. */
  notice_count: number;
  /** The same as it was understood: names and values of a form, a JSON value, an XML text. */
  notice_data: any;
  /** The waits that are left between notices. */
  notice_interval: DurationSeconds[];
  notice_time: Time | null;
  /** Where it stands. */
  state: NoticeState;
  /** What an answer must contain to be a success; empty: nothing. */
  success_flag: string;
  /** The number of the first notice that succeeded; 0: none did. */
  success_id: number;
  /** The time one notice may take. */
  timeout: DurationSeconds;
  /** The URL that is called. */
  url: string;
}

/** How a notice calls its URL. */
export type NoticeMethod = "post" | "get";

/** Where a notice stands. */
export type NoticeState = "waiting" | "delivering" | "succeeded" | "exhausted" | "cancelled";

/**
 * What a run that fails for good makes of its plan: `stop`, `continue`, or `{"stop_after":n}`, which goes on
 * until n runs in a row have failed.
 */
export type OnError = OnErrorWord | StopAfter;

/** The policies without a number. */
export type OnErrorWord = "stop" | "continue";

/** What a failed step does to the others. */
export type OnFailure = "stop" | "continue";

/** The order among ready tasks of one priority. */
export type Order = "fifo" | "random";

/** What a worker is told. */
export interface Orders {
  /** Tasks it was given and has not confirmed, each with its token. They repeat until it does. */
  assignments: Task[];
  /** Tasks it holds and is asked to stop for good. */
  cancel: TaskName[];
  /** Tasks it holds and is asked to set aside. */
  pause: TaskName[];
}

/** How an attempt ended. */
export type Outcome = "done" | "failed" | "released" | "unconfirmed" | "lost" | "cancelled" | "paused" | "freed";

/** A page of a list. */
export interface AccessTokenPage {
  items: AccessToken[];
  next: string | null;
}

/** A page of a list. */
export interface AuditedPage {
  items: Audited[];
  next: string | null;
}

/** A page of a list. */
export interface BundlePage {
  items: Bundle[];
  next: string | null;
}

/** A page of a list. */
export interface FailureGroupPage {
  items: FailureGroup[];
  next: string | null;
}

/** A page of a list. */
export interface FlowSummaryPage {
  items: FlowSummary[];
  next: string | null;
}

/** A page of a list. */
export interface HostPage {
  items: Host[];
  next: string | null;
}

/** A page of a list. */
export interface NoticePage {
  items: Notice[];
  next: string | null;
}

/** A page of a list. */
export interface PlanPage {
  items: Plan[];
  next: string | null;
}

/** A page of a list. */
export interface PlanResultPage {
  items: PlanResult[];
  next: string | null;
}

/** A page of a list. */
export interface QueuePage {
  items: Queue[];
  next: string | null;
}

/** A page of a list. */
export interface TaskPage {
  items: Task[];
  next: string | null;
}

/** A page of a list. */
export interface TimePage {
  items: Time[];
  next: string | null;
}

/** A page of a list. */
export interface WorkerPage {
  items: Worker[];
  next: string | null;
}

/** A plan: all it was given, and how it stands. */
export interface Plan {
  /** The pattern of a rule of type cron. */
  cron?: string | null;
  /** Whether occurrences that are past are kept instead of skipped. */
  no_keep?: boolean | null;
  /** Another name of `repeat`. */
  plan_repet?: number | null;
  /** When it is due, from when it repeats, or at which time of day; 0: not given. */
  plan_time: any;
  /** What kind of rule it is. */
  plan_type: PlanType;
  /** How many units lie between two runs, or on which day they are. */
  plan_value?: number | null;
  /** How often it runs; -1 for ever. */
  repeat?: number | null;
  /** The zone of its local times. */
  timezone?: string | null;
  /** The bundle of the station that it pushes into instead. */
  bundle_key?: string | null;
  callback?: Callback | null;
  /** Who made it. */
  caller?: string | null;
  /** When it was made. */
  created_at: Time;
  /** What it is for. */
  description?: string | null;
  /** What went wrong last. */
  error?: string | null;
  exec_time?: Time | null;
  /** Runs that failed in a row. */
  failures: number;
  finished_at?: Time | null;
  hold?: DurationSeconds | null;
  http?: TaskHttp | null;
  /** How many results are kept. */
  keep_results: number;
  last_state?: LastState | null;
  /** Their limit of attempts; -1 for none. */
  max_attempts?: number | null;
  /** The payload of its runs. */
  message: any;
  next_at?: Time | null;
  /** What a run that fails for good makes of it. */
  on_error: OnError;
  /** Its id. */
  plan_id: string;
  /** Their priority. */
  priority: number;
  /** The queue its runs are pushed to. */
  queue: string;
  /** Runs that were done, and those that failed while the plan went on. */
  real_repet: number;
  /** The caller's own id for it. */
  request_id?: string | null;
  /** Capabilities their worker must have. */
  requires: string[];
  retry?: Retry | null;
  /** Occurrences that were skipped. */
  skipped: number;
  /** Where it stands. */
  state: PlanState;
  /** Another name of `queue`. */
  station: string;
  /** Their labels. */
  tags: string[];
  /** The task of its run that has not ended. */
  task?: string | null;
}

/** What is kept of a run. */
export interface PlanResult {
  /** When it ended. */
  at: Time;
  /** What went wrong. */
  error?: string | null;
  /** The time it was due. */
  plan_time: Time;
  /** What it came to. */
  result: any;
  /** Which run: its number, or a text like `3.1` for one besides the rule. */
  run: any;
  /** Who made it. */
  worker?: string | null;
}

/** Where a plan stands. */
export type PlanState = "scheduled" | "running" | "paused" | "error" | "finished";

/** The kind of a rule. */
export type PlanType = "none" | "time" | "second" | "minute" | "hour" | "day" | "week" | "month" | "cron";

/** How to hear what is new. */
export interface Poll {
  /** Which incarnation asks; one that has been followed by another is refused. */
  session?: string | null;
  wait?: Duration | null;
}

/** A rule, and how many of its times are wanted. */
export interface Preview {
  /** The pattern of a rule of type cron. */
  cron?: string | null;
  /** How many times at most, 1 to 1000. */
  n?: number | null;
  /** Whether occurrences that are past are kept instead of skipped. */
  no_keep?: boolean | null;
  /** Another name of `repeat`. */
  plan_repet?: number | null;
  /** When it is due, from when it repeats, or at which time of day. */
  plan_time?: any;
  /** What kind of rule it is. */
  plan_type: RuleType;
  /** How many units lie between two runs (1 to 32767), or on which day they are. */
  plan_value?: number | null;
  /** How often it runs, -1 for ever; required if it repeats. */
  repeat?: number | null;
  /** The IANA zone of its local times. */
  timezone?: string | null;
}

/** What a client is told when a request was refused. */
export interface Problem {
  /** A stable word for programs. */
  code: string;
  /** What is wrong with this request, and what to do about it. */
  detail: string;
  /** With status 503: whether the request may have taken effect all the same. */
  effect?: string | null;
  /** The HTTP status. */
  status: number;
  /** What the code means, in a few words. */
  title: string;
  /** A URI for the kind of problem: `urn:punctual:` and the code. */
  type: string;
}

/** One task, or a batch of them. */
export type Push = NewTask | NewTaskBatch;

/** A queue. */
export interface Queue {
  abandon_after: DurationSeconds | null;
  /** What becomes of it then. */
  abandoned: Abandoned;
  /** Most tasks held at once; null: unlimited. */
  concurrency: number | null;
  /** How long a worker has to confirm. */
  confirm_within: DurationSeconds;
  /** What it holds. */
  counts: Counts;
  /** When it was made. */
  created_at: Time;
  /** Headers sent to that target; secret values read as `***`. */
  headers: Record<string, string>;
  /** How long a taken task is held before it counts as lost. */
  hold: DurationSeconds;
  /** How long finished tasks stay readable. */
  keep: Keep;
  /** Most live tasks; null: unlimited. */
  max: number | null;
  /** Takes before a task is failed; -1 for no limit. */
  max_attempts: number;
  max_runtime: DurationSeconds | null;
  /** Who carries out its tasks. */
  mode: Mode;
  /** Its name. */
  name: string;
  oldest_ready_age: DurationSeconds | null;
  /** The order among ready tasks of one priority. */
  order: Order;
  /** Whether nothing is handed out. */
  paused: boolean;
  rate: Rate | null;
  /** When to try again. */
  retry: Retry;
  /** `***` if there is one. */
  secret: string | null;
  /** A label to tell queues apart. */
  tag: string | null;
  /** The time one delivery may take. */
  timeout: DurationSeconds;
  /** Target of tasks that name none. */
  url: string | null;
}

/** How much happened in a queue in each minute of the last hour; the last number is of the one under way. */
export interface QueueStats {
  /** Tasks that ended well, per step. */
  done: number[];
  /** Tasks that ended badly, per step. */
  failed: number[];
  /** Tasks that came in, per step. */
  pushed: number[];
  /** The queue. */
  queue: string;
  /** The length of a step, in seconds. */
  step: number;
}

/** A token bucket: bursts of `limit`, refilled evenly over `per`. */
export interface Rate {
  /** Tasks handed out at most. */
  limit: number;
  /** In this time. */
  per: Duration;
}

/** That the server can do its work. */
export interface Ready {
  /** What an acknowledgement is worth. */
  durability: string;
  /** Always true; if not ready, the answer is 503. */
  ready: boolean;
  /** The kind of store. */
  store: string;
}

/** Why a task is not running now. */
export type Reason = "not_due" | "retry_wait" | "paused" | "queue_paused" | "concurrency" | "rate" | "no_taker" | "no_worker" | "no_capable_worker" | "workers_busy" | "target_busy" | "deliveries_busy" | "target_down" | "in_line" | "unconfirmed" | "running" | "pausing" | "cancelling" | "finished" | "waiting_for_steps" | "flow_paused" | "flow_stopped";

/** Given back. */
export interface Release {
  /** What its next holder needs to go on. */
  checkpoint?: any;
  delay?: Duration | null;
  /** The token the take answered. */
  token: string;
}

/** Given back. */
export interface ReleaseItem {
  /** What its next holder needs to go on. */
  checkpoint?: any;
  delay?: Duration | null;
  /** The task's id. */
  id: string;
  /** The token the take answered. */
  token: string;
}

/** The answer to one item of a batch. */
export interface Result {
  /** Of an extend: whether the holder is asked to stop for good. */
  cancel?: boolean;
  /** Why it was not, for programs. */
  code?: string;
  /** Why it was not, for people. */
  detail?: string;
  /** Of an extend: when the hold ends now. */
  hold_until?: Time;
  /** The task's id, if the item has one; one that is malformed as it was sent. */
  id: string | null;
  /** Whether it was carried out. */
  ok: boolean;
  /** Of an extend: whether the holder is asked to set the task aside. */
  pause?: boolean;
}

/** The answers of a batch. */
export interface Results {
  /** One per item, in the order of the request. */
  results: Result[];
}

/** When to try again: either `intervals`, or the rest. */
export interface Retry {
  /** By how much each wait is longer than the one before, 1 to 1000. */
  factor?: number | null;
  first?: Duration | null;
  /** One wait after another; the last repeats. */
  intervals?: Duration[] | null;
  /** Each wait is up to this share shorter or longer, at random, 0 to 1. */
  jitter?: number | null;
  max?: Duration | null;
}

/** How to try again. */
export interface RetryNow {
  /** Also if it is running: its holder's token goes stale. */
  force?: boolean | null;
}

/** What a token may be good for. */
export type Right = "read" | "produce" | "consume" | "admin";

export type RuleType = PlanType | number;

/** A plan's rule. */
export interface RuleView {
  /** The pattern of a rule of type cron. */
  cron?: string | null;
  /** Whether occurrences that are past are kept instead of skipped. */
  no_keep?: boolean | null;
  /** Another name of `repeat`. */
  plan_repet?: number | null;
  /** When it is due, from when it repeats, or at which time of day; 0: not given. */
  plan_time: any;
  /** What kind of rule it is. */
  plan_type: PlanType;
  /** How many units lie between two runs, or on which day they are. */
  plan_value?: number | null;
  /** How often it runs; -1 for ever. */
  repeat?: number | null;
  /** The zone of its local times. */
  timezone?: string | null;
}

/** How many workers a queue has and needs. */
export interface Scale {
  /** Tasks that are ready and wait for a worker. */
  backlog: number;
  /**
   * Workers it takes to keep up with what arrives and to work off the backlog within a minute, by the rates of
   * about the last minute. 1 until a task has been worked on; 0 if idle.
   */
  desired_workers: number;
  /**
   * Workers that took, waited or reported within the last 90 seconds; if none has given its name, tasks held and
   * takers waiting.
   */
  workers: number;
}

/** One secret, or several. */
export type Secret = string | string[];

/** A notice that was sent. */
export interface SentNotice {
  /** The first 4 KiB of the answer. */
  answer: string | null;
  /** When. */
  at: Time;
  /** When that came to an end. */
  ended_at: Time;
  /** What went wrong; null for a success. */
  error: string | null;
  http: Exchange | null;
  /** The HTTP status that was answered. */
  status: number | null;
}

/** A setting that holds. */
export interface Setting {
  /** Its name, as in the file of settings. */
  name: string;
  /** Where it comes from. */
  source: Source;
  /** Its value; null: none. What is secret is `"***"`. */
  value: any;
}

/** What can be set about a queue. What is left out stays, `null` sets it back. */
export interface Settings {
  abandon_after?: Duration | null;
  abandoned?: Abandoned | null;
  /** Most tasks held at once; unlimited. */
  concurrency?: number | null;
  confirm_within?: Duration | null;
  /** Headers sent to that target. */
  headers?: Record<string, string> | null;
  hold?: Duration | null;
  keep?: Keep | null;
  /** Most live tasks; unlimited. */
  max?: number | null;
  /** Takes before a task is failed, -1 for no limit; 5. */
  max_attempts?: number | null;
  max_runtime?: Duration | null;
  mode?: Mode | null;
  order?: Order | null;
  rate?: Rate | null;
  retry?: Retry | null;
  secret?: Secret | null;
  /** A label to tell queues apart. */
  tag?: string | null;
  timeout?: Duration | null;
  /** Target of tasks that name none. */
  url?: string | null;
}

/** How many occurrences to pass over. */
export interface Skip {
  /** How many, 1 to 1000. */
  n?: number | null;
}

/** Where a setting comes from. */
export type Source = "default" | "file" | "environment" | "flag";

/** Where a task stands. */
export type State = "waiting" | "ready" | "assigned" | "running" | "pausing" | "cancelling" | "paused" | "done" | "failed" | "cancelled";

/** One state, or several. */
export type States = string | string[];

/** How much happened in each ten seconds of the last hour; the last number is of those under way. */
export interface Stats {
  /** Tasks that ended well, per step. */
  done: number[];
  /** Tasks that ended badly, per step. */
  failed: number[];
  /** When the first step began. */
  from: string;
  /** Tasks that came in, per step. */
  pushed: number[];
  /** The length of a step, in seconds. */
  step: number;
  /** Tasks that were handed out, per step. */
  taken: number[];
}

/** Statuses of answers. */
export type Statuses = number | string | any[];

/** The policy with a number. */
export interface StopAfter {
  /** How many runs have to fail in a row. */
  stop_after: number;
}

/** The store of a server. */
export interface StoreState {
  /** Whether it can be read and written now. */
  available: boolean;
  /** About how many bytes it takes: its files, or what Redis says it uses; null if that is not known. */
  bytes: number | null;
  /** What an acknowledgement is worth. */
  durability: string;
  /** Its kind. */
  kind: string;
  /** Why it cannot. */
  problem: string | null;
  /** How many queues it has; null while it cannot be read. */
  queues: number | null;
}

/** What counts as success. Both must hold. */
export interface Success {
  /** A text the answer must contain, in its first MiB. */
  contains?: string | null;
  status?: Statuses | null;
}

/** The server, its store, and the servers it shares that with. */
export interface System {
  /** Whether that clock can be moved. */
  dev: boolean;
  /** The servers that share it, by when they started. One that ended without a word stays for an hour. */
  nodes: Node[];
  /** What time it is by the store's clock. */
  now: Time;
  /** When it began to serve. */
  started_at: Time;
  /** The store. */
  store: StoreState;
  /** The version of this server. */
  version: string;
}

/** What a worker asks for. */
export interface Take {
  /** Tasks it is done with; these commits stand whatever becomes of the take. */
  commit?: CommitItem[] | null;
  /** Whether it will confirm what it gets. */
  confirm?: boolean | null;
  hold?: Duration | null;
  /** How many tasks at most, 1 to 1000. */
  n?: number | null;
  wait?: Duration | null;
  /** Its name. */
  worker?: string | null;
}

/** What a worker gets. */
export interface Taken {
  /** The answers to `commit`. */
  committed?: Result[];
  /** The tasks, each with its token. */
  tasks: Task[];
}

/** A task. */
export interface Task {
  /** Times taken. */
  attempt: number;
  /** The task to make when it ends; values of secret headers read as `***`. */
  callback?: Callback;
  /** What its next holder needs to go on. */
  checkpoint: any;
  /** When it was pushed. */
  created_at: Time;
  /** When it is due, or its next attempt is. */
  due_at: Time;
  /** What went wrong last. */
  error: string | null;
  /** The time by which it must have started; else it fails. */
  expires?: Time;
  finished_at: Time | null;
  flow?: FlowPart | null;
  /** The last 20 attempts, oldest first. */
  history: Attempt[];
  /** Its own hold, where that is not the queue's. */
  hold?: DurationSeconds;
  hold_until: Time | null;
  /** Where it is delivered, if it says so itself; values of secret headers read as `***`. */
  http?: TaskHttp;
  /** Its id. */
  id: string;
  /** Takes before it is failed; -1 for no limit. */
  max_attempts: number;
  /** The longest one attempt may hold it, if it says so itself. */
  max_runtime?: DurationSeconds;
  /** What its holder last said. */
  message: string | null;
  /** What was pushed; not in a list that asks for less. */
  payload?: any;
  /** The first 200 characters of the payload's JSON text, in a list with `payload=preview`. */
  payload_preview?: string;
  /** The plan it is a run of. */
  plan: any;
  /** Higher goes first. */
  priority: number;
  /** How far it is, from 0 to 1. */
  progress: number | null;
  /** Its queue. */
  queue: string;
  /** Capabilities its worker must have. */
  requires?: string[];
  /** What it came to. */
  result: any;
  /** Its own waits between attempts, where they are not the queue's. */
  retry?: Retry;
  /** Where it stands. */
  state: State;
  /** Labels. */
  tags: string[];
  taken_at: Time | null;
  /** The holder's token; only in the answer to its take. */
  token?: string;
  /** The span it was pushed in, if it belongs to a trace: carry it on. */
  traceparent?: string;
  /** How long its id stays reserved after its end. */
  unique_for?: DurationSeconds;
  /** Its worker, while held and after the end. */
  worker: string | null;
}

/** Where and how a task is delivered, as it was pushed. */
export interface TaskHttp {
  /** What is sent instead of the payload. */
  body: any;
  /** The type of what is sent. */
  content_type: string | null;
  /** Whether redirects are followed. */
  follow_redirects: boolean;
  /** Headers it is sent with; values of secret ones read as `***`. */
  headers: Record<string, string>;
  method: Method | null;
  success: Success | null;
  timeout: DurationSeconds | null;
  /** The target; null: the queue's. */
  url: string | null;
}

/** Which task. */
export interface TaskName {
  /** Its id. */
  id: string;
  /** Its queue. */
  queue: string;
}

/** A task; or its name, where the task is gone. */
export type TaskOrGone = Task | Gone;

/** RFC 3339, in UTC, with milliseconds */
export type Time = string;

/** A token, without what it is. */
export interface Token {
  /** The first 8 hexadecimal digits of its SHA-256. */
  hash: string;
  /** The queues they hold for; null: for all. */
  queues: string[] | null;
  /** Its rights. */
  rights: Right[];
}

/** The tokens of a server. */
export interface Tokens {
  /** In the order of the settings. */
  items: Token[];
}

/** What queues hold together. */
export interface Totals {
  /** Those that hold most tasks that have not ended, most first: at most 5. One that is paused may hold nothing. */
  busiest: Queue[];
  /** What they hold. */
  counts: Counts;
  oldest_ready_age: DurationSeconds | null;
  /** Its queue. */
  oldest_ready_queue: string | null;
  /** How many of them are paused. */
  paused: number;
  /** How many queues there are. */
  queues: number;
}

/** A point in time, at most in the year 9999 */
export type When = string | number;

/** Why a task is not running now. */
export interface Why {
  /** What went wrong last. */
  error?: string;
  /** The limit that keeps it. */
  limit?: number;
  /** Ready tasks of the queue, this one among them. */
  ready?: number;
  /** A word for programs. */
  reason: Reason;
  /** Where it stands: a task's state, or `pending` for a step of a flow that is no task yet. */
  state: string;
  /** One sentence. */
  text: string;
  /** When that changes by itself. */
  until?: Time;
  /** The steps of its flow that must be done first. */
  waiting_for?: string[];
  /** Who has it. */
  worker?: string;
}

/** A worker. */
export interface Worker {
  /** What it is capable of. */
  capabilities: string[];
  /** Most tasks of dispatch queues it holds at once. */
  capacity: number;
  /** When this incarnation joined. */
  joined_at: Time;
  /** When it was last heard of. */
  last_heartbeat: Time;
  /** How many tasks of dispatch queues it holds. */
  load: number;
  /** Its name. */
  name: string;
  /** The queues it serves. */
  queues: string[];
  /** Which incarnation it is, as it says itself. */
  session: string | null;
  /** Whether it is given tasks. */
  state: WorkerState;
}

/** Where a worker stands. */
export type WorkerState = "active" | "draining" | "lost";
