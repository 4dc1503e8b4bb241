"""Types of requests and answers.

Written by `sdks/generate` from /openapi.json: change nothing here by hand.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

# What becomes of a bundle that was scheduled but never got.
Abandoned = Literal["fail", "drop"]

# Any JSON value, at most 1 MiB, kept as it was sent
AnyJson = Any

# A verb for many tasks.
BulkVerb = Literal["cancel", "pause", "resume", "retry", "reset", "clean"]

# How the data of a notice is written.
ContentType = Literal["form", "json", "xml"]

# A length of time, at most 100 years
Duration = Union[float, str]

# Seconds, whole or not
DurationSeconds = float

# How a task ends.
End = Literal["done", "failed", "cancelled"]

# Where a flow stands.
FlowState = Literal["running", "paused", "cancelling", "done", "failed", "cancelled"]

# The state of a target's breaker.
HostState = Literal["closed", "open", "probing"]

# How a plan's last run stands or ended.
LastState = Literal["ok", "running", "error", "no_worker", "skipped"]

# A method of HTTP; small letters will do.
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

# Who carries out a queue's tasks.
Mode = Literal["pull", "dispatch", "http", "vote", "pub"]

# The body of a verb that needs none.
Nothing = Dict[str, Any]

# How a notice calls its URL.
NoticeMethod = Literal["post", "get"]

# Where a notice stands.
NoticeState = Literal["waiting", "delivering", "succeeded", "exhausted", "cancelled"]

# The policies without a number.
OnErrorWord = Literal["stop", "continue"]

# What a failed step does to the others.
OnFailure = Literal["stop", "continue"]

# The order among ready tasks of one priority.
Order = Literal["fifo", "random"]

# How an attempt ended.
Outcome = Literal["done", "failed", "released", "unconfirmed", "lost", "cancelled", "paused", "freed"]

# Where a plan stands.
PlanState = Literal["scheduled", "running", "paused", "error", "finished"]

# The kind of a rule.
PlanType = Literal["none", "time", "second", "minute", "hour", "day", "week", "month", "cron"]

# Why a task is not running now.
Reason = Literal["not_due", "retry_wait", "paused", "queue_paused", "concurrency", "rate", "no_taker", "no_worker", "no_capable_worker", "workers_busy", "target_busy", "deliveries_busy", "target_down", "in_line", "unconfirmed", "running", "pausing", "cancelling", "finished", "waiting_for_steps", "flow_paused", "flow_stopped"]

# What a token may be good for.
Right = Literal["read", "produce", "consume", "admin"]

# One secret, or several.
Secret = Union[str, List[str]]

# Where a setting comes from.
Source = Literal["default", "file", "environment", "flag"]

# Where a task stands.
State = Literal["waiting", "ready", "assigned", "running", "pausing", "cancelling", "paused", "done", "failed", "cancelled"]

# One state, or several.
States = Union[str, List[str]]

# Statuses of answers.
Statuses = Union[int, str, List[Any]]

# RFC 3339, in UTC, with milliseconds
Time = str

# A point in time, at most in the year 9999
When = Union[str, float]

# Where a worker stands.
WorkerState = Literal["active", "draining", "lost"]


class Access(TypedDict):
    """What whoever asks may do."""

    # Whether the server has no tokens, so that everybody may do everything.
    open: bool
    # The queues they hold for, `*` at the end for any ending; null: for all.
    queues: Optional[List[str]]
    # The rights.
    rights: List[Right]


class AccessToken(TypedDict):
    """A token, without what it is."""

    # When it was made.
    created_at: Time
    expires: Optional[Time]
    last_used: Optional[Time]
    # The limits that hold; null: none.
    limits: AccessTokenLimitsRead
    # What it is called.
    name: str
    # The queues it is good for, `*` at the end for any ending; null: all.
    queues: Optional[List[str]]
    # Those of them that it was refused.
    refusals: int
    # Requests that carried it.
    requests: int
    # What it may do.
    rights: List[Right]


class AccessTokenLimits(TypedDict, total=False):
    """What a token may take of each server at most; over it: 429 `limited`. A token limited to queues has 100
    queues, 1,000 connections, 100 streams and a quarter of the bytes unless told otherwise.
    """

    # Bytes of its requests that are worked on.
    bytes_in_flight: Optional[int]
    # Connections whose last request carried it.
    connections: Optional[int]
    # Queues that exist and that its requests made, over all servers.
    queues: Optional[int]
    requests: Optional[AccessTokenRequests]
    # Open streams of events.
    streams: Optional[int]


class AccessTokenLimitsRead(TypedDict):
    """The limits of a token."""

    # Bytes of its requests that are worked on.
    bytes_in_flight: Optional[int]
    # Connections whose last request carried it.
    connections: Optional[int]
    # Queues that exist and that its requests made.
    queues: Optional[int]
    requests: Optional[AccessTokenRequestsRead]
    # Open streams of events.
    streams: Optional[int]


class AccessTokenRequests(TypedDict):
    """So many requests in a time."""

    # Requests at most, also at once.
    limit: int
    # In this time.
    per: Duration


class AccessTokenRequestsRead(TypedDict):
    """So many requests in so many seconds."""

    # Requests.
    limit: int
    # Seconds.
    per: float


class _Acknowledgement(TypedDict):
    # The token the take answered.
    token: str


class Acknowledgement(_Acknowledgement, total=False):
    """What a holder leaves behind when it stops on request."""

    # What its next holder needs to go on.
    checkpoint: Any
    # What went wrong, at most 4 KiB.
    error: Optional[str]
    # What it came to so far.
    result: Any


class AllQueueStats(TypedDict):
    """Queues in which something happened."""

    # The queues, by name; at most 2000.
    items: List[QueueStats]


class Assign(TypedDict):
    """Whom to give a task."""

    # A registered worker that serves the queue.
    worker: str


class _Attempt(TypedDict):
    # When it began.
    at: Time
    # When it ended.
    ended_at: Time
    # How it ended.
    outcome: Outcome


class Attempt(_Attempt, total=False):
    """One attempt."""

    # What went wrong, shortened.
    error: Optional[str]
    http: Optional[Exchange]
    # The HTTP status that was answered.
    status: Optional[int]
    # Who made it.
    worker: Optional[str]


Audited = TypedDict("Audited", {"action": "str", "at": "Time", "from": "str", "status": "int", "target": "str", "who": "str"})


class CommitItemBatch(TypedDict):
    """Many items, each answered by itself."""

    tasks: List[CommitItem]


class ExtendItemBatch(TypedDict):
    """Many items, each answered by itself."""

    tasks: List[ExtendItem]


class FailItemBatch(TypedDict):
    """Many items, each answered by itself."""

    tasks: List[FailItem]


class NewTaskBatch(TypedDict):
    """Many items, each answered by itself."""

    tasks: List[NewTask]


class ReleaseItemBatch(TypedDict):
    """Many items, each answered by itself."""

    tasks: List[ReleaseItem]


class _Bulk(TypedDict):
    # Which tasks; `{}` for all of them.
    filter: Filter
    # What to do with them.
    verb: BulkVerb


class Bulk(_Bulk, total=False):
    """One verb for many tasks."""

    # The `next` of the call before.
    cursor: Optional[str]
    # Count those that match and change nothing.
    dry_run: Optional[bool]


class Bulked(TypedDict):
    """What one call has done."""

    # Tasks that are other than before.
    changed: int
    # Tasks that match.
    matched: int
    # The cursor of the next call; null: this was the last.
    next: Optional[str]


class _Bundle(TypedDict):
    # How often its delivery was tried.
    attempt: int
    # When its first payload was pushed.
    created_at: Time
    # What went wrong last.
    error: Optional[str]
    # Its key.
    key: str
    locked_until: Optional[Time]
    # With which method, if it has a URL of its own.
    method: Optional[str]
    # When it is due.
    ontime: Time
    # Its queue.
    queue: str
    # How many payloads are in it.
    size: int
    # `waiting`, `started` (a worker was told of it), `locked`, `delivering` or `failed`.
    state: str
    # The task that delivers it; null: workers take it.
    task: Optional[str]
    # Where it is delivered, if that is not its queue's URL.
    url: Optional[str]


class Bundle(_Bundle, total=False):
    """A bundle."""

    # The strings kept with it; only where one bundle is read.
    data: List[str]
    # The last 20 attempts to deliver it, oldest first; only where one bundle is read.
    history: List[Attempt]
    # Its first payloads, at most 10,000 and 16 MiB; only where one bundle is read.
    tasks: List[Any]


class _BundleComplete(TypedDict):
    # The value the bundle was got with.
    random: str


class BundleComplete(_BundleComplete, total=False):
    """What a worker is done with."""

    # How many payloads, from the first on; all that were got if left out.
    number: Optional[int]


class BundleCompleted(TypedDict):
    """What is left of a bundle."""

    # How many payloads; 0: the bundle is gone.
    left: int


class BundleData(TypedDict, total=False):
    """Strings kept with a bundle."""

    # Strings to add.
    add: Optional[List[str]]
    # Strings to take away, after that.
    remove: Optional[List[str]]


class _BundleGet(TypedDict):
    # The caller's own value, at most 255 bytes: whoever shows it has the lock.
    random: str


class BundleGet(_BundleGet, total=False):
    """What a worker gets, and for how long."""

    # How many payloads at most; all if left out.
    number: Optional[int]
    timeout: Optional[Duration]


class BundleGot(TypedDict):
    """Payloads of a bundle."""

    # The strings kept with the bundle.
    data: List[str]
    # Until when the bundle is locked.
    locked_until: Time
    # The payloads, in the order they were pushed; at most 10,000 and 16 MiB.
    tasks: List[Any]


class _BundlePush(TypedDict):
    # The payload.
    task: Any


class BundlePush(_BundlePush, total=False):
    """Something to push into a bundle."""

    # Strings to keep with the bundle, each once.
    data: Optional[List[str]]
    max_wait: Optional[Duration]
    ontime: Optional[When]
    # `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays.
    overwrite: Optional[str]


class _BundlePushed(TypedDict):
    ontime: Optional[Time]
    # How many payloads are in the bundle.
    size: int


class BundlePushed(_BundlePushed, total=False):
    """What a push is answered with."""

    # The bundle's key, if it is gone by now.
    id: str
    # The bundle's key; only where it was not in the request.
    key: str
    # The bundle's queue, if it is gone by now.
    queue: str


class _BundleRelease(TypedDict):
    # The value the bundle was got with.
    random: str


class BundleRelease(_BundleRelease, total=False):
    """What a worker gives back."""

    ontime: Optional[When]


class BundleReleased(TypedDict):
    """When a bundle that was given back is due."""

    # When it is due.
    ontime: Time
    # How many payloads are in it.
    size: int


class BundleSchedule(TypedDict, total=False):
    """What a worker waits for."""

    wait: Optional[Duration]


class _BundleScheduled(TypedDict):
    # Its key; null: none is due.
    key: Optional[str]


class BundleScheduled(_BundleScheduled, total=False):
    """A bundle that is due."""

    next_in: Optional[DurationSeconds]
    # Since when it is due; only if one is.
    ontime: Time


class Callback(TypedDict, total=False):
    """A task to make when another ends."""

    http: Optional[Http]
    # The ends it answers to; all of them if left out.
    on: Optional[List[End]]
    # Push into this queue.
    queue: Optional[str]
    task: Optional[NewTask]


class Clock(TypedDict):
    """The clock after it was moved."""

    # What time it is now.
    now: Time


class _Commit(TypedDict):
    # The token the take answered.
    token: str


class Commit(_Commit, total=False):
    """Done."""

    # What it came to.
    result: Any


class _CommitItem(TypedDict):
    # The task's id.
    id: str
    # The token the take answered.
    token: str


class CommitItem(_CommitItem, total=False):
    """Done."""

    # What it came to.
    result: Any


class Config(TypedDict):
    """The settings of a server."""

    # One for each setting there is.
    items: List[Setting]


class Confirm(TypedDict):
    """That the holder has the task."""

    # The token the take answered.
    token: str


class Counts(TypedDict):
    """The tasks of a queue, counted."""

    assigned: int
    # Bundles.
    bundles: int
    cancelled: int
    cancelling: int
    done: int
    failed: int
    paused: int
    pausing: int
    ready: int
    running: int
    # Those somebody has.
    taken: int
    # Tasks that have not ended.
    total: int
    # Those nobody has: waiting, ready, paused.
    untaken: int
    waiting: int


class Edit(TypedDict, total=False):
    """What to change about a task that nobody has taken. What is left out stays."""

    due: Optional[When]
    expires: Optional[When]
    # A new payload.
    payload: Any
    # A new priority, -100 to 100; null: 0.
    priority: Optional[int]
    retry: Optional[Retry]
    # New labels; null: none.
    tags: Optional[List[str]]


class _Exchange(TypedDict):
    # How much of the answer's body was read.
    answer_bytes: int
    # The method of the last request.
    method: Method
    # Redirects that were followed.
    redirects: int
    # The size of the body that was sent.
    sent_bytes: int
    # From the beginning to the end.
    total: DurationSeconds
    # The URL of the last request, shortened.
    url: str


class Exchange(_Exchange, total=False):
    """What was sent and what came back."""

    # The address that was connected to.
    address: Optional[str]
    # The first 4 KiB of the answer's body, while there is room for it.
    answer: Optional[str]
    connect: Optional[DurationSeconds]
    dns: Optional[DurationSeconds]
    first_byte: Optional[DurationSeconds]
    tls: Optional[DurationSeconds]


class _Extend(TypedDict):
    # The token the take answered.
    token: str


class Extend(_Extend, total=False):
    """More time, and how far it is."""

    # What its next holder would need to go on.
    checkpoint: Any
    hold: Optional[Duration]
    # A word on where it is, at most 4 KiB.
    message: Optional[str]
    # How far it is, from 0 to 1.
    progress: Optional[float]


class _ExtendItem(TypedDict):
    # The task's id.
    id: str
    # The token the take answered.
    token: str


class ExtendItem(_ExtendItem, total=False):
    """More time, and how far it is."""

    # What its next holder would need to go on.
    checkpoint: Any
    hold: Optional[Duration]
    # A word on where it is, at most 4 KiB.
    message: Optional[str]
    # How far it is, from 0 to 1.
    progress: Optional[float]


class Extended(TypedDict):
    """What a holder hears when it extends."""

    # Whether the holder is asked to stop for good, and to say `cancelled`.
    cancel: bool
    hold_until: Optional[Time]
    # Whether the holder is asked to set the task aside, and to say `paused`.
    pause: bool


class _Fail(TypedDict):
    # The token the take answered.
    token: str


class Fail(_Fail, total=False):
    """Failed."""

    # What went wrong, at most 4 KiB.
    error: Optional[str]
    # Whether trying again is no use.
    permanent: Optional[bool]
    retry_in: Optional[Duration]


class _FailItem(TypedDict):
    # The task's id.
    id: str
    # The token the take answered.
    token: str


class FailItem(_FailItem, total=False):
    """Failed."""

    # What went wrong, at most 4 KiB.
    error: Optional[str]
    # Whether trying again is no use.
    permanent: Optional[bool]
    retry_in: Optional[Duration]


class FailureGroup(TypedDict):
    """Failed tasks of one queue that failed alike."""

    # How many there are on this page.
    count: int
    # The beginning of their error, fit to find them by; null: they have none.
    error: Optional[str]
    # The id of that one.
    id: str
    last_at: Optional[Time]
    # The queue.
    queue: str


class Filter(TypedDict, total=False):
    """Which tasks; what is left out does not restrict."""

    # Those whose error contains this.
    error: Optional[str]
    # Those whose id begins so.
    id: Optional[str]
    # Those whose payload contains this.
    q: Optional[str]
    since: Optional[When]
    state: Optional[States]
    # Those with this tag.
    tag: Optional[str]
    # Those that this worker holds, or held when they ended.
    worker: Optional[str]


class _Flow(TypedDict):
    # How many steps it has, and in which states.
    counts: FlowCounts
    # When it was made.
    created_at: Time
    # Its id.
    id: str
    # What a failed step does to the others.
    on_failure: OnFailure
    # Where it stands.
    state: FlowState
    # Its steps, in the order given.
    steps: List[FlowStep]


class Flow(_Flow, total=False):
    """A flow with all its steps."""

    finished_at: Optional[Time]


class FlowCounts(TypedDict):
    """How many steps a flow has, and in which states."""

    # Cancelled, with the flow or because one before it failed.
    cancelled: int
    # Done.
    done: int
    # Failed.
    failed: int
    # Tasks that have not ended.
    living: int
    # Not tasks yet.
    pending: int
    # All of them.
    total: int


class FlowPart(TypedDict):
    """Which step of which flow a task is."""

    # The flow.
    id: str
    # The step.
    step: str


class _FlowStep(TypedDict):
    # The steps that must be done before it becomes a task.
    after: List[str]
    # Its name.
    name: str
    # The queue of its task.
    queue: str
    # What it came to.
    result: Any
    # `pending` until it is a task, then its task's state.
    state: str
    # The id of its task.
    task: str


class FlowStep(_FlowStep, total=False):
    """A step of a flow."""

    # What went wrong.
    error: Optional[str]
    # Whether it has a result that is not told here, because all of them together are over 8 MiB.
    result_left_out: bool
    # Those of `after` that are not done, while it is pending.
    waiting_for: List[str]


class _FlowSummary(TypedDict):
    # How many steps it has, and in which states.
    counts: FlowCounts
    # When it was made.
    created_at: Time
    # Its id.
    id: str
    # What a failed step does to the others.
    on_failure: OnFailure
    # Where it stands.
    state: FlowState


class FlowSummary(_FlowSummary, total=False):
    """A flow without its steps."""

    finished_at: Optional[Time]


class _Gone(TypedDict):
    # Its id.
    id: str
    # Its queue.
    queue: str


class Gone(_Gone, total=False):
    """What is left to say of a task that is gone."""

    # Where it stood at its end, if that is known.
    state: State


class Host(TypedDict):
    """A target of deliveries, as this server sees it."""

    # Tasks that failed since it last answered, at most 10.
    failures: int
    # Its host and port.
    host: str
    # Attempts under way.
    in_flight: int
    retry_at: Optional[Time]
    # `closed`: it is given all it can take; `open`: it is down and given nothing; `probing`: one attempt at a
    # time shall show whether it is back.
    state: HostState
    # Queues that have more for it than it is given.
    waiting: int


class Http(TypedDict, total=False):
    """Where and how a task is delivered."""

    body: Any
    # The type of what is sent; `application/json` if left out, `text/plain` for a text.
    content_type: Optional[str]
    # Whether redirects are followed; they are not if left out.
    follow_redirects: Optional[bool]
    # Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
    # `webhook-*`.
    headers: Optional[Dict[str, str]]
    method: Optional[Method]
    success: Optional[Success]
    timeout: Optional[Duration]
    # The target, at most 8 KiB; the queue's if left out. Private addresses are refused unless the server
    # allows them.
    url: Optional[str]


class Join(TypedDict, total=False):
    """What a worker says about itself. What is left out stays as it was; `null` sets it back."""

    # What it is capable of, at most 64.
    capabilities: Optional[List[str]]
    # Most tasks of dispatch queues it holds at once, 1 to 10000.
    capacity: Optional[int]
    # The queues it serves, 1 to 1000. They need not exist yet.
    queues: Optional[List[str]]
    # Which incarnation it is: another one takes everything from the one before.
    session: Optional[str]


class Keep(TypedDict, total=False):
    """How long finished tasks stay readable."""

    cancelled: Optional[Duration]
    done: Optional[Duration]
    failed: Optional[Duration]


class Live(TypedDict):
    """That the server runs."""

    # Always true.
    live: bool


class MadeAccessToken(TypedDict):
    """A token that was made, and what it is."""

    # When it was made.
    created_at: Time
    expires: Optional[Time]
    last_used: Optional[Time]
    # The limits that hold; null: none.
    limits: AccessTokenLimitsRead
    # What it is called.
    name: str
    # The queues it is good for, `*` at the end for any ending; null: all.
    queues: Optional[List[str]]
    # Those of them that it was refused.
    refusals: int
    # Requests that carried it.
    requests: int
    # What it may do.
    rights: List[Right]
    # The token: send it as `Authorization: Bearer`. It is shown this once.
    token: str


class _Message(TypedDict):
    # The URL to call, at most 8 KiB. Private addresses are refused unless the server allows them.
    url: str


class Message(_Message, total=False):
    """A notice to be sent. `callbak_url` and `enforce_repeate_notice` are taken as well."""

    # The URL to call after a success: GET, without data, with notices of its own.
    callback_url: Optional[str]
    content_type: Optional[ContentType]
    # What to send. For `form` a text like `a=1&b=2` or an object, for `json` a value or a text that holds
    # one, for `xml` a well-formed text or an object that is written as XML.
    data: Any
    # Whether all notices are sent, also after one has succeeded.
    enforce_repeat_notice: Optional[bool]
    # Whether redirects are followed; they are not if left out.
    follow_redirects: Optional[bool]
    # Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
    # `webhook-*`.
    headers: Optional[Dict[str, str]]
    http_method: Optional[NoticeMethod]
    # Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out.
    id: Optional[str]
    # Most notices, 1 to 1000; one more than there are waits if left out. The last wait repeats.
    max_notices: Optional[int]
    # The waits between notices; four of 600 s if left out.
    notice_interval: Optional[List[Duration]]
    # What an answer must contain to be a success; empty: any 2xx will do. `success` if left out.
    success_flag: Optional[str]
    timeout: Optional[Duration]


class Move(TypedDict, total=False):
    """How to move the clock: either of the two."""

    advance: Optional[Duration]
    set: Optional[When]


class _NewAccessToken(TypedDict):
    # What it is called: 1 to 200 characters of A-Z a-z 0-9 . _ : @ ~ -
    name: str
    # What it may do. No right implies another.
    rights: List[Right]


class NewAccessToken(_NewAccessToken, total=False):
    """A token to make."""

    expires: Optional[Time]
    limits: Optional[AccessTokenLimits]
    # The queues it is good for, `*` at the end for any ending; left out: all.
    queues: Optional[List[str]]


class _NewFlow(TypedDict):
    # Its steps, 1 to 10000.
    steps: List[NewStep]


class NewFlow(_NewFlow, total=False):
    """A flow as it is made."""

    # Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out.
    id: Optional[str]
    on_failure: Optional[OnFailure]


class NewPlan(TypedDict, total=False):
    """A plan as it is made or changed."""

    # The bundle of the queue to push into instead of making tasks.
    bundle_key: Optional[str]
    callback: Optional[Callback]
    # Who made it.
    caller: Optional[str]
    # The pattern of a rule of type cron: five fields, or six with seconds first.
    cron: Optional[str]
    # What it is for.
    description: Optional[str]
    hold: Optional[Duration]
    http: Optional[Http]
    # How many results are kept.
    keep_results: Optional[int]
    # Their limit of attempts; -1 for none.
    max_attempts: Optional[int]
    # The payload of its runs.
    message: Any
    # Another name of `message`.
    messages: Any
    # Whether occurrences that are past are kept instead of skipped.
    no_keep: Optional[bool]
    on_error: Optional[OnError]
    # Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`, or a whole number, which is written as 16 hex
    # digits; generated if left out.
    plan_id: Any
    # Another name of `repeat`.
    plan_repet: Optional[int]
    # When it is due, from when it repeats, or at which time of day.
    plan_time: Any
    plan_type: Optional[RuleType]
    # How many units lie between two runs (1 to 32767), or on which day they are.
    plan_value: Optional[int]
    # Their priority, -100 to 100.
    priority: Optional[int]
    # The queue its runs are pushed to; required in a new plan, and the same for ever.
    queue: Optional[str]
    # How often it runs, -1 for ever; required if it repeats.
    repeat: Optional[int]
    # The caller's own id for it.
    request_id: Optional[str]
    # Capabilities their worker must have; for queues of mode dispatch.
    requires: Optional[List[str]]
    retry: Optional[Retry]
    # Another name of `queue`.
    station: Optional[str]
    # Their labels.
    tags: Optional[List[str]]
    # The IANA zone of its local times.
    timezone: Optional[str]


class _NewStep(TypedDict):
    # Its name, unique in the flow; 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`.
    name: str
    # The queue of its task.
    queue: str


class NewStep(_NewStep, total=False):
    """A step of a flow: a name, what it waits for, and the fields of its task."""

    # The names of the steps that must be done before it becomes a task.
    after: Optional[List[str]]
    callback: Optional[Callback]
    delay: Optional[Duration]
    due: Optional[When]
    expires: Optional[When]
    hold: Optional[Duration]
    http: Optional[Http]
    # Its own limit of attempts, instead of the queue's.
    max_attempts: Optional[int]
    max_runtime: Optional[Duration]
    # What is to be done. With `after` the results of those steps are added, as `inputs`.
    payload: Any
    # -100 to 100, higher first.
    priority: Optional[int]
    # Capabilities its worker must have; in queues of mode dispatch.
    requires: Optional[List[str]]
    retry: Optional[Retry]
    # Labels, at most 32 of 128 bytes.
    tags: Optional[List[str]]
    unique_for: Optional[Duration]


class NewTask(TypedDict, total=False):
    """A task to push."""

    callback: Optional[Callback]
    delay: Optional[Duration]
    due: Optional[When]
    expires: Optional[When]
    hold: Optional[Duration]
    http: Optional[Http]
    # Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out.
    id: Optional[str]
    # Its own limit of attempts, instead of the queue's.
    max_attempts: Optional[int]
    max_runtime: Optional[Duration]
    # What is to be done.
    payload: Any
    # -100 to 100, higher first.
    priority: Optional[int]
    # Capabilities its worker must have; in queues of mode dispatch.
    requires: Optional[List[str]]
    retry: Optional[Retry]
    # Labels, at most 32 of 128 bytes.
    tags: Optional[List[str]]
    unique_for: Optional[Duration]


class Node(TypedDict):
    """A server."""

    # Where it listens.
    address: str
    # Its name, new with every start.
    id: str
    # When it was last heard of: every ten seconds, if it is well.
    seen_at: Time
    # When it began to serve.
    started_at: Time
    # Whether it is the one that answers.
    this: bool
    # Its version.
    version: str


class Notice(TypedDict):
    """A notice: the message, and what has become of it."""

    # The URL that is called after a success.
    callback_url: Optional[str]
    # How the data is written.
    content_type: ContentType
    # When it was taken.
    created_at: Time
    # What is sent, as it was given.
    data: Any
    # Whether all notices are sent, also after one has succeeded.
    enforce_repeat_notice: bool
    # What went wrong last.
    error: Optional[str]
    finished_at: Optional[Time]
    # Whether redirects are followed.
    follow_redirects: bool
    # Headers that are sent; values of secret ones read as `***`.
    headers: Dict[str, str]
    # The last 20 notices, oldest first.
    history: List[SentNotice]
    # How.
    http_method: NoticeMethod
    # Its id.
    id: str
    # Most notices.
    max_notices: Optional[int]
    # Notices that were sent.
    notice_count: int
    # The same as it was understood: names and values of a form, a JSON value, an XML text.
    notice_data: Any
    # The waits that are left between notices.
    notice_interval: List[DurationSeconds]
    notice_time: Optional[Time]
    # Where it stands.
    state: NoticeState
    # What an answer must contain to be a success; empty: nothing.
    success_flag: str
    # The number of the first notice that succeeded; 0: none did.
    success_id: int
    # The time one notice may take.
    timeout: DurationSeconds
    # The URL that is called.
    url: str


class Orders(TypedDict):
    """What a worker is told."""

    # Tasks it was given and has not confirmed, each with its token. They repeat until it does.
    assignments: List[Task]
    # Tasks it holds and is asked to stop for good.
    cancel: List[TaskName]
    # Tasks it holds and is asked to set aside.
    pause: List[TaskName]


class AccessTokenPage(TypedDict):
    """A page of a list."""

    items: List[AccessToken]
    next: Optional[str]


class AuditedPage(TypedDict):
    """A page of a list."""

    items: List[Audited]
    next: Optional[str]


class BundlePage(TypedDict):
    """A page of a list."""

    items: List[Bundle]
    next: Optional[str]


class FailureGroupPage(TypedDict):
    """A page of a list."""

    items: List[FailureGroup]
    next: Optional[str]


class FlowSummaryPage(TypedDict):
    """A page of a list."""

    items: List[FlowSummary]
    next: Optional[str]


class HostPage(TypedDict):
    """A page of a list."""

    items: List[Host]
    next: Optional[str]


class NoticePage(TypedDict):
    """A page of a list."""

    items: List[Notice]
    next: Optional[str]


class PlanPage(TypedDict):
    """A page of a list."""

    items: List[Plan]
    next: Optional[str]


class PlanResultPage(TypedDict):
    """A page of a list."""

    items: List[PlanResult]
    next: Optional[str]


class QueuePage(TypedDict):
    """A page of a list."""

    items: List[Queue]
    next: Optional[str]


class TaskPage(TypedDict):
    """A page of a list."""

    items: List[Task]
    next: Optional[str]


class TimePage(TypedDict):
    """A page of a list."""

    items: List[Time]
    next: Optional[str]


class WorkerPage(TypedDict):
    """A page of a list."""

    items: List[Worker]
    next: Optional[str]


class _Plan(TypedDict):
    # When it is due, from when it repeats, or at which time of day; 0: not given.
    plan_time: Any
    # What kind of rule it is.
    plan_type: PlanType
    # When it was made.
    created_at: Time
    # Runs that failed in a row.
    failures: int
    # How many results are kept.
    keep_results: int
    # The payload of its runs.
    message: Any
    # What a run that fails for good makes of it.
    on_error: OnError
    # Its id.
    plan_id: str
    # Their priority.
    priority: int
    # The queue its runs are pushed to.
    queue: str
    # Runs that were done, and those that failed while the plan went on.
    real_repet: int
    # Capabilities their worker must have.
    requires: List[str]
    # Occurrences that were skipped.
    skipped: int
    # Where it stands.
    state: PlanState
    # Another name of `queue`.
    station: str
    # Their labels.
    tags: List[str]


class Plan(_Plan, total=False):
    """A plan: all it was given, and how it stands."""

    # The pattern of a rule of type cron.
    cron: Optional[str]
    # Whether occurrences that are past are kept instead of skipped.
    no_keep: Optional[bool]
    # Another name of `repeat`.
    plan_repet: Optional[int]
    # How many units lie between two runs, or on which day they are.
    plan_value: Optional[int]
    # How often it runs; -1 for ever.
    repeat: Optional[int]
    # The zone of its local times.
    timezone: Optional[str]
    # The bundle of the station that it pushes into instead.
    bundle_key: Optional[str]
    callback: Optional[Callback]
    # Who made it.
    caller: Optional[str]
    # What it is for.
    description: Optional[str]
    # What went wrong last.
    error: Optional[str]
    exec_time: Optional[Time]
    finished_at: Optional[Time]
    hold: Optional[DurationSeconds]
    http: Optional[TaskHttp]
    last_state: Optional[LastState]
    # Their limit of attempts; -1 for none.
    max_attempts: Optional[int]
    next_at: Optional[Time]
    # The caller's own id for it.
    request_id: Optional[str]
    retry: Optional[Retry]
    # The task of its run that has not ended.
    task: Optional[str]


class _PlanResult(TypedDict):
    # When it ended.
    at: Time
    # The time it was due.
    plan_time: Time
    # What it came to.
    result: Any
    # Which run: its number, or a text like `3.1` for one besides the rule.
    run: Any


class PlanResult(_PlanResult, total=False):
    """What is kept of a run."""

    # What went wrong.
    error: Optional[str]
    # Who made it.
    worker: Optional[str]


class Poll(TypedDict, total=False):
    """How to hear what is new."""

    # Which incarnation asks; one that has been followed by another is refused.
    session: Optional[str]
    wait: Optional[Duration]


class _Preview(TypedDict):
    # What kind of rule it is.
    plan_type: RuleType


class Preview(_Preview, total=False):
    """A rule, and how many of its times are wanted."""

    # The pattern of a rule of type cron.
    cron: Optional[str]
    # How many times at most, 1 to 1000.
    n: Optional[int]
    # Whether occurrences that are past are kept instead of skipped.
    no_keep: Optional[bool]
    # Another name of `repeat`.
    plan_repet: Optional[int]
    # When it is due, from when it repeats, or at which time of day.
    plan_time: Any
    # How many units lie between two runs (1 to 32767), or on which day they are.
    plan_value: Optional[int]
    # How often it runs, -1 for ever; required if it repeats.
    repeat: Optional[int]
    # The IANA zone of its local times.
    timezone: Optional[str]


class _Problem(TypedDict):
    # A stable word for programs.
    code: str
    # What is wrong with this request, and what to do about it.
    detail: str
    # The HTTP status.
    status: int
    # What the code means, in a few words.
    title: str
    # A URI for the kind of problem: `urn:punctual:` and the code.
    type: str


class Problem(_Problem, total=False):
    """What a client is told when a request was refused."""

    # With status 503: whether the request may have taken effect all the same.
    effect: Optional[str]


class Queue(TypedDict):
    """A queue."""

    abandon_after: Optional[DurationSeconds]
    # What becomes of it then.
    abandoned: Abandoned
    # Most tasks held at once; null: unlimited.
    concurrency: Optional[int]
    # How long a worker has to confirm.
    confirm_within: DurationSeconds
    # What it holds.
    counts: Counts
    # When it was made.
    created_at: Time
    # Headers sent to that target; secret values read as `***`.
    headers: Dict[str, str]
    # How long a taken task is held before it counts as lost.
    hold: DurationSeconds
    # How long finished tasks stay readable.
    keep: Keep
    # Most live tasks; null: unlimited.
    max: Optional[int]
    # Takes before a task is failed; -1 for no limit.
    max_attempts: int
    max_runtime: Optional[DurationSeconds]
    # Who carries out its tasks.
    mode: Mode
    # Its name.
    name: str
    oldest_ready_age: Optional[DurationSeconds]
    # The order among ready tasks of one priority.
    order: Order
    # Whether nothing is handed out.
    paused: bool
    rate: Optional[Rate]
    # When to try again.
    retry: Retry
    # `***` if there is one.
    secret: Optional[str]
    # A label to tell queues apart.
    tag: Optional[str]
    # The time one delivery may take.
    timeout: DurationSeconds
    # Target of tasks that name none.
    url: Optional[str]


class QueueStats(TypedDict):
    """How much happened in a queue in each minute of the last hour; the last number is of the one under way."""

    # Tasks that ended well, per step.
    done: List[int]
    # Tasks that ended badly, per step.
    failed: List[int]
    # Tasks that came in, per step.
    pushed: List[int]
    # The queue.
    queue: str
    # The length of a step, in seconds.
    step: int


class Rate(TypedDict):
    """A token bucket: bursts of `limit`, refilled evenly over `per`."""

    # Tasks handed out at most.
    limit: int
    # In this time.
    per: Duration


class Ready(TypedDict):
    """That the server can do its work."""

    # What an acknowledgement is worth.
    durability: str
    # Always true; if not ready, the answer is 503.
    ready: bool
    # The kind of store.
    store: str


class _Release(TypedDict):
    # The token the take answered.
    token: str


class Release(_Release, total=False):
    """Given back."""

    # What its next holder needs to go on.
    checkpoint: Any
    delay: Optional[Duration]


class _ReleaseItem(TypedDict):
    # The task's id.
    id: str
    # The token the take answered.
    token: str


class ReleaseItem(_ReleaseItem, total=False):
    """Given back."""

    # What its next holder needs to go on.
    checkpoint: Any
    delay: Optional[Duration]


class _Result(TypedDict):
    # The task's id, if the item has one; one that is malformed as it was sent.
    id: Optional[str]
    # Whether it was carried out.
    ok: bool


class Result(_Result, total=False):
    """The answer to one item of a batch."""

    # Of an extend: whether the holder is asked to stop for good.
    cancel: bool
    # Why it was not, for programs.
    code: str
    # Why it was not, for people.
    detail: str
    # Of an extend: when the hold ends now.
    hold_until: Time
    # Of an extend: whether the holder is asked to set the task aside.
    pause: bool


class Results(TypedDict):
    """The answers of a batch."""

    # One per item, in the order of the request.
    results: List[Result]


class Retry(TypedDict, total=False):
    """When to try again: either `intervals`, or the rest."""

    # By how much each wait is longer than the one before, 1 to 1000.
    factor: Optional[float]
    first: Optional[Duration]
    # One wait after another; the last repeats.
    intervals: Optional[List[Duration]]
    # Each wait is up to this share shorter or longer, at random, 0 to 1.
    jitter: Optional[float]
    max: Optional[Duration]


class RetryNow(TypedDict, total=False):
    """How to try again."""

    # Also if it is running: its holder's token goes stale.
    force: Optional[bool]


class _RuleView(TypedDict):
    # When it is due, from when it repeats, or at which time of day; 0: not given.
    plan_time: Any
    # What kind of rule it is.
    plan_type: PlanType


class RuleView(_RuleView, total=False):
    """A plan's rule."""

    # The pattern of a rule of type cron.
    cron: Optional[str]
    # Whether occurrences that are past are kept instead of skipped.
    no_keep: Optional[bool]
    # Another name of `repeat`.
    plan_repet: Optional[int]
    # How many units lie between two runs, or on which day they are.
    plan_value: Optional[int]
    # How often it runs; -1 for ever.
    repeat: Optional[int]
    # The zone of its local times.
    timezone: Optional[str]


class Scale(TypedDict):
    """How many workers a queue has and needs."""

    # Tasks that are ready and wait for a worker.
    backlog: int
    # Workers it takes to keep up with what arrives and to work off the backlog within a minute, by the rates
    # of about the last minute. 1 until a task has been worked on; 0 if idle.
    desired_workers: int
    # Workers that took, waited or reported within the last 90 seconds; if none has given its name, tasks held
    # and takers waiting.
    workers: int


class SentNotice(TypedDict):
    """A notice that was sent."""

    # The first 4 KiB of the answer.
    answer: Optional[str]
    # When.
    at: Time
    # When that came to an end.
    ended_at: Time
    # What went wrong; null for a success.
    error: Optional[str]
    http: Optional[Exchange]
    # The HTTP status that was answered.
    status: Optional[int]


class Setting(TypedDict):
    """A setting that holds."""

    # Its name, as in the file of settings.
    name: str
    # Where it comes from.
    source: Source
    # Its value; null: none. What is secret is `"***"`.
    value: Any


class Settings(TypedDict, total=False):
    """What can be set about a queue. What is left out stays, `null` sets it back."""

    abandon_after: Optional[Duration]
    abandoned: Optional[Abandoned]
    # Most tasks held at once; unlimited.
    concurrency: Optional[int]
    confirm_within: Optional[Duration]
    # Headers sent to that target.
    headers: Optional[Dict[str, str]]
    hold: Optional[Duration]
    keep: Optional[Keep]
    # Most live tasks; unlimited.
    max: Optional[int]
    # Takes before a task is failed, -1 for no limit; 5.
    max_attempts: Optional[int]
    max_runtime: Optional[Duration]
    mode: Optional[Mode]
    order: Optional[Order]
    rate: Optional[Rate]
    retry: Optional[Retry]
    secret: Optional[Secret]
    # A label to tell queues apart.
    tag: Optional[str]
    timeout: Optional[Duration]
    # Target of tasks that name none.
    url: Optional[str]


class Skip(TypedDict, total=False):
    """How many occurrences to pass over."""

    # How many, 1 to 1000.
    n: Optional[int]


Stats = TypedDict("Stats", {"done": "List[int]", "failed": "List[int]", "from": "str", "pushed": "List[int]", "step": "int", "taken": "List[int]"})


class StopAfter(TypedDict):
    """The policy with a number."""

    # How many runs have to fail in a row.
    stop_after: int


class StoreState(TypedDict):
    """The store of a server."""

    # Whether it can be read and written now.
    available: bool
    # About how many bytes it takes: its files, or what Redis says it uses; null if that is not known.
    bytes: Optional[int]
    # What an acknowledgement is worth.
    durability: str
    # Its kind.
    kind: str
    # Why it cannot.
    problem: Optional[str]
    # How many queues it has; null while it cannot be read.
    queues: Optional[int]


class Success(TypedDict, total=False):
    """What counts as success. Both must hold."""

    # A text the answer must contain, in its first MiB.
    contains: Optional[str]
    status: Optional[Statuses]


class System(TypedDict):
    """The server, its store, and the servers it shares that with."""

    # Whether that clock can be moved.
    dev: bool
    # The servers that share it, by when they started. One that ended without a word stays for an hour.
    nodes: List[Node]
    # What time it is by the store's clock.
    now: Time
    # When it began to serve.
    started_at: Time
    # The store.
    store: StoreState
    # The version of this server.
    version: str


class Take(TypedDict, total=False):
    """What a worker asks for."""

    # Tasks it is done with; these commits stand whatever becomes of the take.
    commit: Optional[List[CommitItem]]
    # Whether it will confirm what it gets.
    confirm: Optional[bool]
    hold: Optional[Duration]
    # How many tasks at most, 1 to 1000.
    n: Optional[int]
    wait: Optional[Duration]
    # Its name.
    worker: Optional[str]


class _Taken(TypedDict):
    # The tasks, each with its token.
    tasks: List[Task]


class Taken(_Taken, total=False):
    """What a worker gets."""

    # The answers to `commit`.
    committed: List[Result]


class _Task(TypedDict):
    # Times taken.
    attempt: int
    # What its next holder needs to go on.
    checkpoint: Any
    # When it was pushed.
    created_at: Time
    # When it is due, or its next attempt is.
    due_at: Time
    # What went wrong last.
    error: Optional[str]
    finished_at: Optional[Time]
    # The last 20 attempts, oldest first.
    history: List[Attempt]
    hold_until: Optional[Time]
    # Its id.
    id: str
    # Takes before it is failed; -1 for no limit.
    max_attempts: int
    # What its holder last said.
    message: Optional[str]
    # The plan it is a run of.
    plan: Any
    # Higher goes first.
    priority: int
    # How far it is, from 0 to 1.
    progress: Optional[float]
    # Its queue.
    queue: str
    # What it came to.
    result: Any
    # Where it stands.
    state: State
    # Labels.
    tags: List[str]
    taken_at: Optional[Time]
    # Its worker, while held and after the end.
    worker: Optional[str]


class Task(_Task, total=False):
    """A task."""

    # The task to make when it ends; values of secret headers read as `***`.
    callback: Callback
    # The time by which it must have started; else it fails.
    expires: Time
    flow: Optional[FlowPart]
    # Its own hold, where that is not the queue's.
    hold: DurationSeconds
    # Where it is delivered, if it says so itself; values of secret headers read as `***`.
    http: TaskHttp
    # The longest one attempt may hold it, if it says so itself.
    max_runtime: DurationSeconds
    # What was pushed; not in a list that asks for less.
    payload: Any
    # The first 200 characters of the payload's JSON text, in a list with `payload=preview`.
    payload_preview: str
    # Capabilities its worker must have.
    requires: List[str]
    # Its own waits between attempts, where they are not the queue's.
    retry: Retry
    # The holder's token; only in the answer to its take.
    token: str
    # The span it was pushed in, if it belongs to a trace: carry it on.
    traceparent: str
    # How long its id stays reserved after its end.
    unique_for: DurationSeconds


class TaskHttp(TypedDict):
    """Where and how a task is delivered, as it was pushed."""

    # What is sent instead of the payload.
    body: Any
    # The type of what is sent.
    content_type: Optional[str]
    # Whether redirects are followed.
    follow_redirects: bool
    # Headers it is sent with; values of secret ones read as `***`.
    headers: Dict[str, str]
    method: Optional[Method]
    success: Optional[Success]
    timeout: Optional[DurationSeconds]
    # The target; null: the queue's.
    url: Optional[str]


class TaskName(TypedDict):
    """Which task."""

    # Its id.
    id: str
    # Its queue.
    queue: str


class Token(TypedDict):
    """A token, without what it is."""

    # The first 8 hexadecimal digits of its SHA-256.
    hash: str
    # The queues they hold for; null: for all.
    queues: Optional[List[str]]
    # Its rights.
    rights: List[Right]


class Tokens(TypedDict):
    """The tokens of a server."""

    # In the order of the settings.
    items: List[Token]


class Totals(TypedDict):
    """What queues hold together."""

    # Those that hold most tasks that have not ended, most first: at most 5. One that is paused may hold
    # nothing.
    busiest: List[Queue]
    # What they hold.
    counts: Counts
    oldest_ready_age: Optional[DurationSeconds]
    # Its queue.
    oldest_ready_queue: Optional[str]
    # How many of them are paused.
    paused: int
    # How many queues there are.
    queues: int


class _Why(TypedDict):
    # A word for programs.
    reason: Reason
    # Where it stands: a task's state, or `pending` for a step of a flow that is no task yet.
    state: str
    # One sentence.
    text: str


class Why(_Why, total=False):
    """Why a task is not running now."""

    # What went wrong last.
    error: str
    # The limit that keeps it.
    limit: int
    # Ready tasks of the queue, this one among them.
    ready: int
    # When that changes by itself.
    until: Time
    # The steps of its flow that must be done first.
    waiting_for: List[str]
    # Who has it.
    worker: str


class Worker(TypedDict):
    """A worker."""

    # What it is capable of.
    capabilities: List[str]
    # Most tasks of dispatch queues it holds at once.
    capacity: int
    # When this incarnation joined.
    joined_at: Time
    # When it was last heard of.
    last_heartbeat: Time
    # How many tasks of dispatch queues it holds.
    load: int
    # Its name.
    name: str
    # The queues it serves.
    queues: List[str]
    # Which incarnation it is, as it says itself.
    session: Optional[str]
    # Whether it is given tasks.
    state: WorkerState


# What a run that fails for good makes of its plan: `stop`, `continue`, or `{"stop_after":n}`, which goes on
# until n runs in a row have failed.
OnError = Union[OnErrorWord, StopAfter]


# One task, or a batch of them.
Push = Union[NewTask, NewTaskBatch]


RuleType = Union[PlanType, int]


# A task; or its name, where the task is gone.
TaskOrGone = Union[Task, Gone]
