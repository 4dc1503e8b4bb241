//! Every limit of the public interface, in one place.

/// Largest request body, in bytes.
pub const BODY_BYTES_MAX: usize = 64 << 20;
/// Most request bytes the server works on at once.
pub const BODY_BYTES_IN_FLIGHT_MAX: usize = 256 << 20;
/// Bodies being worked on get one of so many parts of the server's memory. Each takes up to six times its size
/// until it is carried out: as it came, as tasks, and as rows.
pub const BODY_MEMORY_PARTS: u64 = 8;
/// Largest payload, result or checkpoint, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 1 << 20;
/// Longest error or message, in bytes.
pub const TEXT_BYTES_MAX: usize = 4 << 10;
/// Most tags on a task.
pub const TAGS_MAX: usize = 32;
/// Longest tag, in bytes.
pub const TAG_BYTES_MAX: usize = 128;
/// Most capabilities a task requires or a worker has.
pub const CAPABILITIES_MAX: usize = 64;
/// Longest capability, in bytes.
pub const CAPABILITY_BYTES_MAX: usize = 128;
/// Largest answer of one voter, in bytes.
pub const VOTE_RESULT_BYTES_MAX: usize = 64 << 10;
/// Most voters on one task.
pub const VOTERS_MAX: usize = 1_000;
/// Most queues a worker serves.
pub const WORKER_QUEUES_MAX: usize = 1_000;
/// Most tasks a worker can be given at once.
pub const CAPACITY_MAX: u32 = 10_000;
/// Longest `session` of a worker, in bytes.
pub const SESSION_BYTES_MAX: usize = 200;
/// Most headers of an HTTP target.
pub const HEADERS_MAX: usize = 64;
/// Most bytes all header names and values take together.
pub const HEADERS_BYTES_MAX: usize = 16 << 10;
/// Longest `content_type`, in bytes.
pub const CONTENT_TYPE_BYTES_MAX: usize = 256;
/// Longest time one attempt to deliver may take, in milliseconds.
pub const TIMEOUT_MS_MAX: i64 = 60 * 60 * 1_000;
/// Longest time a target may ask to be left alone, in milliseconds.
pub const RETRY_AFTER_MS_MAX: i64 = 24 * 60 * 60 * 1_000;
/// How much of an answer becomes a task's result, and the largest result of a flow's step, in bytes.
pub const RESULT_BYTES_MAX: usize = 64 << 10;
/// How much of an answer is kept with its attempt, in bytes.
pub const ANSWER_BYTES_MAX: usize = 4 << 10;
/// How much of all answers is kept with all attempts of a task, in bytes.
pub const ANSWERS_BYTES_MAX: usize = 32 << 10;
/// Longest URL, in bytes.
pub const URL_BYTES_MAX: usize = 8 << 10;
/// Most items in a batch.
pub const BATCH_ITEMS_MAX: usize = 10_000;
/// Most tasks one take may ask for.
pub const TAKE_N_MAX: usize = 1_000;
/// Most payload bytes one take hands out (at least one task, however large).
pub const TAKE_BYTES_MAX: usize = 16 << 20;
/// Longest wait of a take, in milliseconds.
pub const WAIT_MS_MAX: i64 = 60_000;
/// Most items on a page of a list.
pub const PAGE_ITEMS_MAX: usize = 1_000;
/// Items on a page of a list when the request names no limit.
pub const PAGE_ITEMS_DEFAULT: usize = 50;
/// Most records one list call examines.
pub const PAGE_EXAMINED_MAX: usize = 10_000;
/// Most bytes one list call returns.
pub const PAGE_BYTES_MAX: usize = 8 << 20;
/// Most tasks one bulk call changes.
pub const BULK_ITEMS_MAX: usize = 1_000;
/// Attempts a task remembers.
pub const HISTORY_MAX: usize = 20;
/// Longest name of a queue or worker, longest id of a task.
pub const NAME_BYTES_MAX: usize = 200;
/// Longest id of a plan or flow.
pub const OWNER_ID_BYTES_MAX: usize = 90;
/// Most steps of a flow.
pub const FLOW_STEPS_MAX: usize = 10_000;
/// Most names that the steps of a flow wait for, all together.
pub const FLOW_EDGES_MAX: usize = 100_000;
/// Longest key of a bundle, in bytes.
pub const BUNDLE_KEY_BYTES_MAX: usize = 2_048;
/// Most payloads one get or delivery of a bundle hands out.
pub const BUNDLE_ITEMS_MAX: usize = 10_000;
/// Most strings kept with a bundle.
pub const BUNDLE_DATA_MAX: usize = 10_000;
/// Most bytes all strings kept with a bundle take together.
pub const BUNDLE_DATA_BYTES_MAX: usize = 256 << 10;
/// Longest `random` of one who locks a bundle, in bytes.
pub const RANDOM_BYTES_MAX: usize = 255;
/// How long a scheduled bundle that nobody got is left alone, unless its queue says so, in milliseconds.
pub const STARTED_MS: i64 = 30_000;
/// Longest `Idempotency-Key`.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// Commit receipts and keyed requests remembered, at most.
pub const REMEMBERED_MAX: usize = 1_000_000;
/// How long a commit receipt is remembered, in milliseconds.
pub const RECEIPT_MS: i64 = 10 * 60 * 1_000;
/// How long a keyed request is remembered, in milliseconds.
pub const KEYED_REQUEST_MS: i64 = 24 * 60 * 60 * 1_000;
/// Deepest nesting of a JSON body.
pub const JSON_DEPTH_MAX: usize = 128;
/// Names of queues that an access token is limited to, at most.
pub const ACCESS_QUEUES_MAX: usize = 1_000;
/// Queues that an access token limited to queues may make, unless it says otherwise.
pub const TOKEN_QUEUES_MAX: u64 = 100;
/// Connections of an access token limited to queues, unless it says otherwise.
pub const TOKEN_CONNECTIONS_MAX: u64 = 1_000;
/// Open streams of an access token limited to queues, unless it says otherwise.
pub const TOKEN_STREAMS_MAX: u64 = 100;
/// Queues a server holds unless configured otherwise.
pub const QUEUES_MAX: usize = 10_000;
/// Events a client can go on from, at most.
pub const EVENTS_MAX: usize = 10_000;
/// Bytes of events a client can go on from, at most.
pub const EVENTS_BYTES_MAX: usize = 64 << 20;
/// Largest payload of a task that is broadcast, in bytes.
pub const PUB_PAYLOAD_BYTES_MAX: usize = 64 << 10;
