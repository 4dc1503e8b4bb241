// Written by sdks/generate from /openapi.json. DO NOT EDIT: change nothing here by hand.

package api

import (
	"encoding/json"
	"time"
)

// Abandoned: What becomes of a bundle that was scheduled but never got.
type Abandoned string

// AbandonedFail is the Abandoned "fail".
const AbandonedFail Abandoned = "fail"

// AbandonedDrop is the Abandoned "drop".
const AbandonedDrop Abandoned = "drop"

// Access: What whoever asks may do.
type Access struct {
	// Whether the server has no tokens, so that everybody may do everything.
	Open bool `json:"open"`

	// The queues they hold for, `*` at the end for any ending; null: for all.
	Queues []string `json:"queues"`

	// The rights.
	Rights []Right `json:"rights"`
}

// AccessToken: A token, without what it is.
type AccessToken struct {
	// When it was made.
	CreatedAt Time `json:"created_at"`

	Expires *Time `json:"expires"`

	LastUsed *Time `json:"last_used"`

	// The limits that hold; null: none.
	Limits AccessTokenLimitsRead `json:"limits"`

	// What it is called.
	Name string `json:"name"`

	// The queues it is good for, `*` at the end for any ending; null: all.
	Queues []string `json:"queues"`

	// Those of them that it was refused.
	Refusals int `json:"refusals"`

	// Requests that carried it.
	Requests int `json:"requests"`

	// What it may do.
	Rights []Right `json:"rights"`
}

// AccessTokenLimits: What a token may take of each server at most; over it: 429 `limited`. A token limited to
// queues has 100 queues, 1,000 connections, 100 streams and a quarter of the bytes unless told otherwise.
type AccessTokenLimits struct {
	// Bytes of its requests that are worked on.
	BytesInFlight int `json:"bytes_in_flight,omitempty"`

	// Connections whose last request carried it.
	Connections int `json:"connections,omitempty"`

	// Queues that exist and that its requests made, over all servers.
	Queues int `json:"queues,omitempty"`

	Requests *AccessTokenRequests `json:"requests,omitempty"`

	// Open streams of events.
	Streams int `json:"streams,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v AccessTokenLimits) MarshalJSON() ([]byte, error) {
	type plain AccessTokenLimits
	return withAlso(plain(v), v.Also)
}

// AccessTokenLimitsRead: The limits of a token.
type AccessTokenLimitsRead struct {
	// Bytes of its requests that are worked on.
	BytesInFlight *int `json:"bytes_in_flight"`

	// Connections whose last request carried it.
	Connections *int `json:"connections"`

	// Queues that exist and that its requests made.
	Queues *int `json:"queues"`

	Requests *AccessTokenRequestsRead `json:"requests"`

	// Open streams of events.
	Streams *int `json:"streams"`
}

// AccessTokenRequests: So many requests in a time.
type AccessTokenRequests struct {
	// Requests at most, also at once.
	Limit int `json:"limit"`

	// In this time.
	Per Duration `json:"per"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v AccessTokenRequests) MarshalJSON() ([]byte, error) {
	type plain AccessTokenRequests
	return withAlso(plain(v), v.Also)
}

// AccessTokenRequestsRead: So many requests in so many seconds.
type AccessTokenRequestsRead struct {
	// Requests.
	Limit int `json:"limit"`

	// Seconds.
	Per float64 `json:"per"`
}

// Acknowledgement: What a holder leaves behind when it stops on request.
type Acknowledgement struct {
	// What its next holder needs to go on.
	Checkpoint any `json:"checkpoint,omitempty"`

	// What went wrong, at most 4 KiB.
	Error string `json:"error,omitempty"`

	// What it came to so far.
	Result any `json:"result,omitempty"`

	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Acknowledgement) MarshalJSON() ([]byte, error) {
	type plain Acknowledgement
	return withAlso(plain(v), v.Also)
}

// AllQueueStats: Queues in which something happened.
type AllQueueStats struct {
	// The queues, by name; at most 2000.
	Items []QueueStats `json:"items"`
}

// AnyJSON: Any JSON value, at most 1 MiB, kept as it was sent
type AnyJSON = any

// Assign: Whom to give a task.
type Assign struct {
	// A registered worker that serves the queue.
	Worker string `json:"worker"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Assign) MarshalJSON() ([]byte, error) {
	type plain Assign
	return withAlso(plain(v), v.Also)
}

// Attempt: One attempt.
type Attempt struct {
	// When it began.
	At Time `json:"at"`

	// When it ended.
	EndedAt Time `json:"ended_at"`

	// What went wrong, shortened.
	Error string `json:"error,omitempty"`

	HTTP *Exchange `json:"http,omitempty"`

	// How it ended.
	Outcome Outcome `json:"outcome"`

	// The HTTP status that was answered.
	Status *int `json:"status,omitempty"`

	// Who made it.
	Worker string `json:"worker,omitempty"`
}

// Audited: Something that was done, or tried.
type Audited struct {
	// What was done.
	Action string `json:"action"`

	// When.
	At Time `json:"at"`

	// The address the request came from.
	From string `json:"from"`

	// The HTTP status it was answered with.
	Status int `json:"status"`

	// To which queue or task; of a refused token, what was asked for.
	Target string `json:"target"`

	// Who: the first 8 digits of the token's hash, and its name if it has one; `open` where there are no tokens,
	// `unknown` for none of the server's.
	Who string `json:"who"`
}

// CommitItemBatch: Many items, each answered by itself.
type CommitItemBatch struct {
	Tasks []CommitItem `json:"tasks"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v CommitItemBatch) MarshalJSON() ([]byte, error) {
	type plain CommitItemBatch
	return withAlso(plain(v), v.Also)
}

// ExtendItemBatch: Many items, each answered by itself.
type ExtendItemBatch struct {
	Tasks []ExtendItem `json:"tasks"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v ExtendItemBatch) MarshalJSON() ([]byte, error) {
	type plain ExtendItemBatch
	return withAlso(plain(v), v.Also)
}

// FailItemBatch: Many items, each answered by itself.
type FailItemBatch struct {
	Tasks []FailItem `json:"tasks"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v FailItemBatch) MarshalJSON() ([]byte, error) {
	type plain FailItemBatch
	return withAlso(plain(v), v.Also)
}

// NewTaskBatch: Many items, each answered by itself.
type NewTaskBatch struct {
	Tasks []NewTask `json:"tasks"`
}

// ReleaseItemBatch: Many items, each answered by itself.
type ReleaseItemBatch struct {
	Tasks []ReleaseItem `json:"tasks"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v ReleaseItemBatch) MarshalJSON() ([]byte, error) {
	type plain ReleaseItemBatch
	return withAlso(plain(v), v.Also)
}

// Bulk: One verb for many tasks.
type Bulk struct {
	// The `next` of the call before.
	Cursor string `json:"cursor,omitempty"`

	// Count those that match and change nothing.
	DryRun bool `json:"dry_run,omitempty"`

	// Which tasks; `{}` for all of them.
	Filter Filter `json:"filter"`

	// What to do with them.
	Verb BulkVerb `json:"verb"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Bulk) MarshalJSON() ([]byte, error) {
	type plain Bulk
	return withAlso(plain(v), v.Also)
}

// BulkVerb: A verb for many tasks.
type BulkVerb string

// BulkVerbCancel is the BulkVerb "cancel".
const BulkVerbCancel BulkVerb = "cancel"

// BulkVerbPause is the BulkVerb "pause".
const BulkVerbPause BulkVerb = "pause"

// BulkVerbResume is the BulkVerb "resume".
const BulkVerbResume BulkVerb = "resume"

// BulkVerbRetry is the BulkVerb "retry".
const BulkVerbRetry BulkVerb = "retry"

// BulkVerbReset is the BulkVerb "reset".
const BulkVerbReset BulkVerb = "reset"

// BulkVerbClean is the BulkVerb "clean".
const BulkVerbClean BulkVerb = "clean"

// Bulked: What one call has done.
type Bulked struct {
	// Tasks that are other than before.
	Changed int `json:"changed"`

	// Tasks that match.
	Matched int `json:"matched"`

	// The cursor of the next call; null: this was the last.
	Next string `json:"next"`
}

// Bundle: A bundle.
type Bundle struct {
	// How often its delivery was tried.
	Attempt int `json:"attempt"`

	// When its first payload was pushed.
	CreatedAt Time `json:"created_at"`

	// The strings kept with it; only where one bundle is read.
	Data []string `json:"data,omitempty"`

	// What went wrong last.
	Error string `json:"error"`

	// The last 20 attempts to deliver it, oldest first; only where one bundle is read.
	History []Attempt `json:"history,omitempty"`

	// Its key.
	Key string `json:"key"`

	LockedUntil *Time `json:"locked_until"`

	// With which method, if it has a URL of its own.
	Method string `json:"method"`

	// When it is due.
	Ontime Time `json:"ontime"`

	// Its queue.
	Queue string `json:"queue"`

	// How many payloads are in it.
	Size int `json:"size"`

	// `waiting`, `started` (a worker was told of it), `locked`, `delivering` or `failed`.
	State string `json:"state"`

	// The task that delivers it; null: workers take it.
	Task string `json:"task"`

	// Its first payloads, at most 10,000 and 16 MiB; only where one bundle is read.
	Tasks []json.RawMessage `json:"tasks,omitempty"`

	// Where it is delivered, if that is not its queue's URL.
	URL string `json:"url"`
}

// BundleComplete: What a worker is done with.
type BundleComplete struct {
	// How many payloads, from the first on; all that were got if left out.
	Number int `json:"number,omitempty"`

	// The value the bundle was got with.
	Random string `json:"random"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v BundleComplete) MarshalJSON() ([]byte, error) {
	type plain BundleComplete
	return withAlso(plain(v), v.Also)
}

// BundleCompleted: What is left of a bundle.
type BundleCompleted struct {
	// How many payloads; 0: the bundle is gone.
	Left int `json:"left"`
}

// BundleData: Strings kept with a bundle.
type BundleData struct {
	// Strings to add.
	Add []string `json:"add,omitempty"`

	// Strings to take away, after that.
	Remove []string `json:"remove,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v BundleData) MarshalJSON() ([]byte, error) {
	type plain BundleData
	return withAlso(plain(v), v.Also)
}

// BundleGet: What a worker gets, and for how long.
type BundleGet struct {
	// How many payloads at most; all if left out.
	Number int `json:"number,omitempty"`

	// The caller's own value, at most 255 bytes: whoever shows it has the lock.
	Random string `json:"random"`

	Timeout Duration `json:"timeout,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v BundleGet) MarshalJSON() ([]byte, error) {
	type plain BundleGet
	return withAlso(plain(v), v.Also)
}

// BundleGot: Payloads of a bundle.
type BundleGot struct {
	// The strings kept with the bundle.
	Data []string `json:"data"`

	// Until when the bundle is locked.
	LockedUntil Time `json:"locked_until"`

	// The payloads, in the order they were pushed; at most 10,000 and 16 MiB.
	Tasks []json.RawMessage `json:"tasks"`
}

// BundlePush: Something to push into a bundle.
type BundlePush struct {
	// Strings to keep with the bundle, each once.
	Data []string `json:"data,omitempty"`

	MaxWait Duration `json:"max_wait,omitempty"`

	Ontime When `json:"ontime,omitempty"`

	// `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays.
	Overwrite string `json:"overwrite,omitempty"`

	// The payload.
	Task any `json:"task"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v BundlePush) MarshalJSON() ([]byte, error) {
	type plain BundlePush
	return withAlso(plain(v), v.Also)
}

// BundlePushed: What a push is answered with.
type BundlePushed struct {
	// The bundle's key, if it is gone by now.
	ID string `json:"id,omitempty"`

	// The bundle's key; only where it was not in the request.
	Key string `json:"key,omitempty"`

	Ontime *Time `json:"ontime"`

	// The bundle's queue, if it is gone by now.
	Queue string `json:"queue,omitempty"`

	// How many payloads are in the bundle.
	Size int `json:"size"`
}

// BundleRelease: What a worker gives back.
type BundleRelease struct {
	Ontime When `json:"ontime,omitempty"`

	// The value the bundle was got with.
	Random string `json:"random"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v BundleRelease) MarshalJSON() ([]byte, error) {
	type plain BundleRelease
	return withAlso(plain(v), v.Also)
}

// BundleReleased: When a bundle that was given back is due.
type BundleReleased struct {
	// When it is due.
	Ontime Time `json:"ontime"`

	// How many payloads are in it.
	Size int `json:"size"`
}

// BundleSchedule: What a worker waits for.
type BundleSchedule struct {
	Wait Duration `json:"wait,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v BundleSchedule) MarshalJSON() ([]byte, error) {
	type plain BundleSchedule
	return withAlso(plain(v), v.Also)
}

// BundleScheduled: A bundle that is due.
type BundleScheduled struct {
	// Its key; null: none is due.
	Key string `json:"key"`

	NextIn *DurationSeconds `json:"next_in,omitempty"`

	// Since when it is due; only if one is.
	Ontime *Time `json:"ontime,omitempty"`
}

// Callback: A task to make when another ends.
type Callback struct {
	HTTP *HTTP `json:"http,omitempty"`

	// The ends it answers to; all of them if left out.
	On []End `json:"on,omitempty"`

	// Push into this queue.
	Queue string `json:"queue,omitempty"`

	Task *NewTask `json:"task,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Callback) MarshalJSON() ([]byte, error) {
	type plain Callback
	return withAlso(plain(v), v.Also)
}

// Clock: The clock after it was moved.
type Clock struct {
	// What time it is now.
	Now Time `json:"now"`
}

// Commit: Done.
type Commit struct {
	// What it came to.
	Result any `json:"result,omitempty"`

	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Commit) MarshalJSON() ([]byte, error) {
	type plain Commit
	return withAlso(plain(v), v.Also)
}

// CommitItem: Done.
type CommitItem struct {
	// The task's id.
	ID string `json:"id"`

	// What it came to.
	Result any `json:"result,omitempty"`

	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v CommitItem) MarshalJSON() ([]byte, error) {
	type plain CommitItem
	return withAlso(plain(v), v.Also)
}

// Config: The settings of a server.
type Config struct {
	// One for each setting there is.
	Items []Setting `json:"items"`
}

// Confirm: That the holder has the task.
type Confirm struct {
	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Confirm) MarshalJSON() ([]byte, error) {
	type plain Confirm
	return withAlso(plain(v), v.Also)
}

// ContentType: How the data of a notice is written.
type ContentType string

// ContentTypeForm is the ContentType "form".
const ContentTypeForm ContentType = "form"

// ContentTypeJSON is the ContentType "json".
const ContentTypeJSON ContentType = "json"

// ContentTypeXml is the ContentType "xml".
const ContentTypeXml ContentType = "xml"

// Counts: The tasks of a queue, counted.
type Counts struct {
	Assigned int `json:"assigned"`

	// Bundles.
	Bundles int `json:"bundles"`

	Cancelled int `json:"cancelled"`

	Cancelling int `json:"cancelling"`

	Done int `json:"done"`

	Failed int `json:"failed"`

	Paused int `json:"paused"`

	Pausing int `json:"pausing"`

	Ready int `json:"ready"`

	Running int `json:"running"`

	// Those somebody has.
	Taken int `json:"taken"`

	// Tasks that have not ended.
	Total int `json:"total"`

	// Those nobody has: waiting, ready, paused.
	Untaken int `json:"untaken"`

	Waiting int `json:"waiting"`
}

// Duration: A length of time, at most 100 years
type Duration string

// MarshalJSON writes a number as a number.
func (v Duration) MarshalJSON() ([]byte, error) { return textOrNumber(string(v)) }

// UnmarshalJSON reads text or a number.
func (v *Duration) UnmarshalJSON(from []byte) error { return readText(from, (*string)(v)) }

// DurationSeconds: Seconds, whole or not
type DurationSeconds = float64

// Edit: What to change about a task that nobody has taken. What is left out stays.
type Edit struct {
	Due When `json:"due,omitempty"`

	Expires When `json:"expires,omitempty"`

	// A new payload.
	Payload any `json:"payload,omitempty"`

	// A new priority, -100 to 100; null: 0.
	Priority int `json:"priority,omitempty"`

	Retry *Retry `json:"retry,omitempty"`

	// New labels; null: none.
	Tags []string `json:"tags,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Edit) MarshalJSON() ([]byte, error) {
	type plain Edit
	return withAlso(plain(v), v.Also)
}

// End: How a task ends.
type End string

// EndDone is the End "done".
const EndDone End = "done"

// EndFailed is the End "failed".
const EndFailed End = "failed"

// EndCancelled is the End "cancelled".
const EndCancelled End = "cancelled"

// Exchange: What was sent and what came back.
type Exchange struct {
	// The address that was connected to.
	Address string `json:"address,omitempty"`

	// The first 4 KiB of the answer's body, while there is room for it.
	Answer string `json:"answer,omitempty"`

	// How much of the answer's body was read.
	AnswerBytes int `json:"answer_bytes"`

	Connect *DurationSeconds `json:"connect,omitempty"`

	DNS *DurationSeconds `json:"dns,omitempty"`

	FirstByte *DurationSeconds `json:"first_byte,omitempty"`

	// The method of the last request.
	Method Method `json:"method"`

	// Redirects that were followed.
	Redirects int `json:"redirects"`

	// The size of the body that was sent.
	SentBytes int `json:"sent_bytes"`

	TLS *DurationSeconds `json:"tls,omitempty"`

	// From the beginning to the end.
	Total DurationSeconds `json:"total"`

	// The URL of the last request, shortened.
	URL string `json:"url"`
}

// Extend: More time, and how far it is.
type Extend struct {
	// What its next holder would need to go on.
	Checkpoint any `json:"checkpoint,omitempty"`

	Hold Duration `json:"hold,omitempty"`

	// A word on where it is, at most 4 KiB.
	Message string `json:"message,omitempty"`

	// How far it is, from 0 to 1.
	Progress float64 `json:"progress,omitempty"`

	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Extend) MarshalJSON() ([]byte, error) {
	type plain Extend
	return withAlso(plain(v), v.Also)
}

// ExtendItem: More time, and how far it is.
type ExtendItem struct {
	// What its next holder would need to go on.
	Checkpoint any `json:"checkpoint,omitempty"`

	Hold Duration `json:"hold,omitempty"`

	// The task's id.
	ID string `json:"id"`

	// A word on where it is, at most 4 KiB.
	Message string `json:"message,omitempty"`

	// How far it is, from 0 to 1.
	Progress float64 `json:"progress,omitempty"`

	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v ExtendItem) MarshalJSON() ([]byte, error) {
	type plain ExtendItem
	return withAlso(plain(v), v.Also)
}

// Extended: What a holder hears when it extends.
type Extended struct {
	// Whether the holder is asked to stop for good, and to say `cancelled`.
	Cancel bool `json:"cancel"`

	HoldUntil *Time `json:"hold_until"`

	// Whether the holder is asked to set the task aside, and to say `paused`.
	Pause bool `json:"pause"`
}

// Fail: Failed.
type Fail struct {
	// What went wrong, at most 4 KiB.
	Error string `json:"error,omitempty"`

	// Whether trying again is no use.
	Permanent bool `json:"permanent,omitempty"`

	RetryIn Duration `json:"retry_in,omitempty"`

	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Fail) MarshalJSON() ([]byte, error) {
	type plain Fail
	return withAlso(plain(v), v.Also)
}

// FailItem: Failed.
type FailItem struct {
	// What went wrong, at most 4 KiB.
	Error string `json:"error,omitempty"`

	// The task's id.
	ID string `json:"id"`

	// Whether trying again is no use.
	Permanent bool `json:"permanent,omitempty"`

	RetryIn Duration `json:"retry_in,omitempty"`

	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v FailItem) MarshalJSON() ([]byte, error) {
	type plain FailItem
	return withAlso(plain(v), v.Also)
}

// FailureGroup: Failed tasks of one queue that failed alike.
type FailureGroup struct {
	// How many there are on this page.
	Count int `json:"count"`

	// The beginning of their error, fit to find them by; null: they have none.
	Error string `json:"error"`

	// The id of that one.
	ID string `json:"id"`

	LastAt *Time `json:"last_at"`

	// The queue.
	Queue string `json:"queue"`
}

// Filter: Which tasks; what is left out does not restrict.
type Filter struct {
	// Those whose error contains this.
	Error string `json:"error,omitempty"`

	// Those whose id begins so.
	ID string `json:"id,omitempty"`

	// Those whose payload contains this.
	Q string `json:"q,omitempty"`

	Since When `json:"since,omitempty"`

	State States `json:"state,omitempty"`

	// Those with this tag.
	Tag string `json:"tag,omitempty"`

	// Those that this worker holds, or held when they ended.
	Worker string `json:"worker,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Filter) MarshalJSON() ([]byte, error) {
	type plain Filter
	return withAlso(plain(v), v.Also)
}

// Flow: A flow with all its steps.
type Flow struct {
	// How many steps it has, and in which states.
	Counts FlowCounts `json:"counts"`

	// When it was made.
	CreatedAt Time `json:"created_at"`

	FinishedAt *Time `json:"finished_at,omitempty"`

	// Its id.
	ID string `json:"id"`

	// What a failed step does to the others.
	OnFailure OnFailure `json:"on_failure"`

	// Where it stands.
	State FlowState `json:"state"`

	// Its steps, in the order given.
	Steps []FlowStep `json:"steps"`
}

// FlowCounts: How many steps a flow has, and in which states.
type FlowCounts struct {
	// Cancelled, with the flow or because one before it failed.
	Cancelled int `json:"cancelled"`

	// Done.
	Done int `json:"done"`

	// Failed.
	Failed int `json:"failed"`

	// Tasks that have not ended.
	Living int `json:"living"`

	// Not tasks yet.
	Pending int `json:"pending"`

	// All of them.
	Total int `json:"total"`
}

// FlowPart: Which step of which flow a task is.
type FlowPart struct {
	// The flow.
	ID string `json:"id"`

	// The step.
	Step string `json:"step"`
}

// FlowState: Where a flow stands.
type FlowState string

// FlowStateRunning is the FlowState "running".
const FlowStateRunning FlowState = "running"

// FlowStatePaused is the FlowState "paused".
const FlowStatePaused FlowState = "paused"

// FlowStateCancelling is the FlowState "cancelling".
const FlowStateCancelling FlowState = "cancelling"

// FlowStateDone is the FlowState "done".
const FlowStateDone FlowState = "done"

// FlowStateFailed is the FlowState "failed".
const FlowStateFailed FlowState = "failed"

// FlowStateCancelled is the FlowState "cancelled".
const FlowStateCancelled FlowState = "cancelled"

// FlowStep: A step of a flow.
type FlowStep struct {
	// The steps that must be done before it becomes a task.
	After []string `json:"after"`

	// What went wrong.
	Error string `json:"error,omitempty"`

	// Its name.
	Name string `json:"name"`

	// The queue of its task.
	Queue string `json:"queue"`

	// What it came to.
	Result json.RawMessage `json:"result"`

	// Whether it has a result that is not told here, because all of them together are over 8 MiB.
	ResultLeftOut *bool `json:"result_left_out,omitempty"`

	// `pending` until it is a task, then its task's state.
	State string `json:"state"`

	// The id of its task.
	Task string `json:"task"`

	// Those of `after` that are not done, while it is pending.
	WaitingFor []string `json:"waiting_for,omitempty"`
}

// FlowSummary: A flow without its steps.
type FlowSummary struct {
	// How many steps it has, and in which states.
	Counts FlowCounts `json:"counts"`

	// When it was made.
	CreatedAt Time `json:"created_at"`

	FinishedAt *Time `json:"finished_at,omitempty"`

	// Its id.
	ID string `json:"id"`

	// What a failed step does to the others.
	OnFailure OnFailure `json:"on_failure"`

	// Where it stands.
	State FlowState `json:"state"`
}

// Gone: What is left to say of a task that is gone.
type Gone struct {
	// Its id.
	ID string `json:"id"`

	// Its queue.
	Queue string `json:"queue"`

	// Where it stood at its end, if that is known.
	State State `json:"state,omitempty"`
}

// Host: A target of deliveries, as this server sees it.
type Host struct {
	// Tasks that failed since it last answered, at most 10.
	Failures int `json:"failures"`

	// Its host and port.
	Host string `json:"host"`

	// Attempts under way.
	InFlight int `json:"in_flight"`

	RetryAt *Time `json:"retry_at"`

	// `closed`: it is given all it can take; `open`: it is down and given nothing; `probing`: one attempt at a time
	// shall show whether it is back.
	State HostState `json:"state"`

	// Queues that have more for it than it is given.
	Waiting int `json:"waiting"`
}

// HostState: The state of a target's breaker.
type HostState string

// HostStateClosed is the HostState "closed".
const HostStateClosed HostState = "closed"

// HostStateOpen is the HostState "open".
const HostStateOpen HostState = "open"

// HostStateProbing is the HostState "probing".
const HostStateProbing HostState = "probing"

// HTTP: Where and how a task is delivered.
type HTTP struct {
	Body any `json:"body,omitempty"`

	// The type of what is sent; `application/json` if left out, `text/plain` for a text.
	ContentType string `json:"content_type,omitempty"`

	// Whether redirects are followed; they are not if left out.
	FollowRedirects bool `json:"follow_redirects,omitempty"`

	// Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
	// `webhook-*`.
	Headers map[string]string `json:"headers,omitempty"`

	Method Method `json:"method,omitempty"`

	Success *Success `json:"success,omitempty"`

	Timeout Duration `json:"timeout,omitempty"`

	// The target, at most 8 KiB; the queue's if left out. Private addresses are refused unless the server allows
	// them.
	URL string `json:"url,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v HTTP) MarshalJSON() ([]byte, error) {
	type plain HTTP
	return withAlso(plain(v), v.Also)
}

// Join: What a worker says about itself. What is left out stays as it was; `null` sets it back.
type Join struct {
	// What it is capable of, at most 64.
	Capabilities []string `json:"capabilities,omitempty"`

	// Most tasks of dispatch queues it holds at once, 1 to 10000.
	Capacity int `json:"capacity,omitempty"`

	// The queues it serves, 1 to 1000. They need not exist yet.
	Queues []string `json:"queues,omitempty"`

	// Which incarnation it is: another one takes everything from the one before.
	Session string `json:"session,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Join) MarshalJSON() ([]byte, error) {
	type plain Join
	return withAlso(plain(v), v.Also)
}

// Keep: How long finished tasks stay readable.
type Keep struct {
	Cancelled Duration `json:"cancelled,omitempty"`

	Done Duration `json:"done,omitempty"`

	Failed Duration `json:"failed,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Keep) MarshalJSON() ([]byte, error) {
	type plain Keep
	return withAlso(plain(v), v.Also)
}

// LastState: How a plan's last run stands or ended.
type LastState string

// LastStateOk is the LastState "ok".
const LastStateOk LastState = "ok"

// LastStateRunning is the LastState "running".
const LastStateRunning LastState = "running"

// LastStateError is the LastState "error".
const LastStateError LastState = "error"

// LastStateNoWorker is the LastState "no_worker".
const LastStateNoWorker LastState = "no_worker"

// LastStateSkipped is the LastState "skipped".
const LastStateSkipped LastState = "skipped"

// Live: That the server runs.
type Live struct {
	// Always true.
	Live bool `json:"live"`
}

// MadeAccessToken: A token that was made, and what it is.
type MadeAccessToken struct {
	// When it was made.
	CreatedAt Time `json:"created_at"`

	Expires *Time `json:"expires"`

	LastUsed *Time `json:"last_used"`

	// The limits that hold; null: none.
	Limits AccessTokenLimitsRead `json:"limits"`

	// What it is called.
	Name string `json:"name"`

	// The queues it is good for, `*` at the end for any ending; null: all.
	Queues []string `json:"queues"`

	// Those of them that it was refused.
	Refusals int `json:"refusals"`

	// Requests that carried it.
	Requests int `json:"requests"`

	// What it may do.
	Rights []Right `json:"rights"`

	// The token: send it as `Authorization: Bearer`. It is shown this once.
	Token string `json:"token"`
}

// Message: A notice to be sent. `callbak_url` and `enforce_repeate_notice` are taken as well.
type Message struct {
	// The URL to call after a success: GET, without data, with notices of its own.
	CallbackURL string `json:"callback_url,omitempty"`

	ContentType ContentType `json:"content_type,omitempty"`

	// What to send. For `form` a text like `a=1&b=2` or an object, for `json` a value or a text that holds one, for
	// `xml` a well-formed text or an object that is written as XML.
	Data any `json:"data,omitempty"`

	// Whether all notices are sent, also after one has succeeded.
	EnforceRepeatNotice bool `json:"enforce_repeat_notice,omitempty"`

	// Whether redirects are followed; they are not if left out.
	FollowRedirects bool `json:"follow_redirects,omitempty"`

	// Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
	// `webhook-*`.
	Headers map[string]string `json:"headers,omitempty"`

	HTTPMethod NoticeMethod `json:"http_method,omitempty"`

	// Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out.
	ID string `json:"id,omitempty"`

	// Most notices, 1 to 1000; one more than there are waits if left out. The last wait repeats.
	MaxNotices int `json:"max_notices,omitempty"`

	// The waits between notices; four of 600 s if left out.
	NoticeInterval []Duration `json:"notice_interval,omitempty"`

	// What an answer must contain to be a success; empty: any 2xx will do. `success` if left out.
	SuccessFlag string `json:"success_flag,omitempty"`

	Timeout Duration `json:"timeout,omitempty"`

	// The URL to call, at most 8 KiB. Private addresses are refused unless the server allows them.
	URL string `json:"url"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Message) MarshalJSON() ([]byte, error) {
	type plain Message
	return withAlso(plain(v), v.Also)
}

// Method: A method of HTTP; small letters will do.
type Method string

// MethodGet is the Method "GET".
const MethodGet Method = "GET"

// MethodHead is the Method "HEAD".
const MethodHead Method = "HEAD"

// MethodPost is the Method "POST".
const MethodPost Method = "POST"

// MethodPut is the Method "PUT".
const MethodPut Method = "PUT"

// MethodPatch is the Method "PATCH".
const MethodPatch Method = "PATCH"

// MethodDelete is the Method "DELETE".
const MethodDelete Method = "DELETE"

// MethodOptions is the Method "OPTIONS".
const MethodOptions Method = "OPTIONS"

// Mode: Who carries out a queue's tasks.
type Mode string

// ModePull is the Mode "pull".
const ModePull Mode = "pull"

// ModeDispatch is the Mode "dispatch".
const ModeDispatch Mode = "dispatch"

// ModeHTTP is the Mode "http".
const ModeHTTP Mode = "http"

// ModeVote is the Mode "vote".
const ModeVote Mode = "vote"

// ModePub is the Mode "pub".
const ModePub Mode = "pub"

// Move: How to move the clock: either of the two.
type Move struct {
	Advance Duration `json:"advance,omitempty"`

	Set When `json:"set,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Move) MarshalJSON() ([]byte, error) {
	type plain Move
	return withAlso(plain(v), v.Also)
}

// NewAccessToken: A token to make.
type NewAccessToken struct {
	Expires *Time `json:"expires,omitempty"`

	Limits *AccessTokenLimits `json:"limits,omitempty"`

	// What it is called: 1 to 200 characters of A-Z a-z 0-9 . _ : @ ~ -
	Name string `json:"name"`

	// The queues it is good for, `*` at the end for any ending; left out: all.
	Queues []string `json:"queues,omitempty"`

	// What it may do. No right implies another.
	Rights []Right `json:"rights"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v NewAccessToken) MarshalJSON() ([]byte, error) {
	type plain NewAccessToken
	return withAlso(plain(v), v.Also)
}

// NewFlow: A flow as it is made.
type NewFlow struct {
	// Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out.
	ID string `json:"id,omitempty"`

	OnFailure OnFailure `json:"on_failure,omitempty"`

	// Its steps, 1 to 10000.
	Steps []NewStep `json:"steps"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v NewFlow) MarshalJSON() ([]byte, error) {
	type plain NewFlow
	return withAlso(plain(v), v.Also)
}

// NewPlan: A plan as it is made or changed.
type NewPlan struct {
	// The bundle of the queue to push into instead of making tasks.
	BundleKey string `json:"bundle_key,omitempty"`

	Callback *Callback `json:"callback,omitempty"`

	// Who made it.
	Caller string `json:"caller,omitempty"`

	// The pattern of a rule of type cron: five fields, or six with seconds first.
	Cron string `json:"cron,omitempty"`

	// What it is for.
	Description string `json:"description,omitempty"`

	Hold Duration `json:"hold,omitempty"`

	HTTP *HTTP `json:"http,omitempty"`

	// How many results are kept.
	KeepResults int `json:"keep_results,omitempty"`

	// Their limit of attempts; -1 for none.
	MaxAttempts int `json:"max_attempts,omitempty"`

	// The payload of its runs.
	Message any `json:"message,omitempty"`

	// Another name of `message`.
	Messages any `json:"messages,omitempty"`

	// Whether occurrences that are past are kept instead of skipped.
	NoKeep bool `json:"no_keep,omitempty"`

	OnError OnError `json:"on_error,omitempty"`

	// Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`, or a whole number, which is written as 16 hex
	// digits; generated if left out.
	PlanID any `json:"plan_id,omitempty"`

	// Another name of `repeat`.
	PlanRepet int `json:"plan_repet,omitempty"`

	// When it is due, from when it repeats, or at which time of day.
	PlanTime any `json:"plan_time,omitempty"`

	PlanType RuleType `json:"plan_type,omitempty"`

	// How many units lie between two runs (1 to 32767), or on which day they are.
	PlanValue int `json:"plan_value,omitempty"`

	// Their priority, -100 to 100.
	Priority int `json:"priority,omitempty"`

	// The queue its runs are pushed to; required in a new plan, and the same for ever.
	Queue string `json:"queue,omitempty"`

	// How often it runs, -1 for ever; required if it repeats.
	Repeat int `json:"repeat,omitempty"`

	// The caller's own id for it.
	RequestID string `json:"request_id,omitempty"`

	// Capabilities their worker must have; for queues of mode dispatch.
	Requires []string `json:"requires,omitempty"`

	Retry *Retry `json:"retry,omitempty"`

	// Another name of `queue`.
	Station string `json:"station,omitempty"`

	// Their labels.
	Tags []string `json:"tags,omitempty"`

	// The IANA zone of its local times.
	Timezone string `json:"timezone,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v NewPlan) MarshalJSON() ([]byte, error) {
	type plain NewPlan
	return withAlso(plain(v), v.Also)
}

// NewStep: A step of a flow: a name, what it waits for, and the fields of its task.
type NewStep struct {
	// The names of the steps that must be done before it becomes a task.
	After []string `json:"after,omitempty"`

	Callback *Callback `json:"callback,omitempty"`

	Delay Duration `json:"delay,omitempty"`

	Due When `json:"due,omitempty"`

	Expires When `json:"expires,omitempty"`

	Hold Duration `json:"hold,omitempty"`

	HTTP *HTTP `json:"http,omitempty"`

	// Its own limit of attempts, instead of the queue's.
	MaxAttempts int `json:"max_attempts,omitempty"`

	MaxRuntime Duration `json:"max_runtime,omitempty"`

	// Its name, unique in the flow; 1 to 90 characters of `A-Z a-z 0-9 . _ : @ ~ -`.
	Name string `json:"name"`

	// What is to be done. With `after` the results of those steps are added, as `inputs`.
	Payload any `json:"payload,omitempty"`

	// -100 to 100, higher first.
	Priority int `json:"priority,omitempty"`

	// The queue of its task.
	Queue string `json:"queue"`

	// Capabilities its worker must have; in queues of mode dispatch.
	Requires []string `json:"requires,omitempty"`

	Retry *Retry `json:"retry,omitempty"`

	// Labels, at most 32 of 128 bytes.
	Tags []string `json:"tags,omitempty"`

	UniqueFor Duration `json:"unique_for,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v NewStep) MarshalJSON() ([]byte, error) {
	type plain NewStep
	return withAlso(plain(v), v.Also)
}

// NewTask: A task to push.
type NewTask struct {
	Callback *Callback `json:"callback,omitempty"`

	Delay Duration `json:"delay,omitempty"`

	Due When `json:"due,omitempty"`

	Expires When `json:"expires,omitempty"`

	Hold Duration `json:"hold,omitempty"`

	HTTP *HTTP `json:"http,omitempty"`

	// Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : @ ~ -`; generated if left out.
	ID string `json:"id,omitempty"`

	// Its own limit of attempts, instead of the queue's.
	MaxAttempts int `json:"max_attempts,omitempty"`

	MaxRuntime Duration `json:"max_runtime,omitempty"`

	// What is to be done.
	Payload any `json:"payload,omitempty"`

	// -100 to 100, higher first.
	Priority int `json:"priority,omitempty"`

	// Capabilities its worker must have; in queues of mode dispatch.
	Requires []string `json:"requires,omitempty"`

	Retry *Retry `json:"retry,omitempty"`

	// Labels, at most 32 of 128 bytes.
	Tags []string `json:"tags,omitempty"`

	UniqueFor Duration `json:"unique_for,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v NewTask) MarshalJSON() ([]byte, error) {
	type plain NewTask
	return withAlso(plain(v), v.Also)
}

// Node: A server.
type Node struct {
	// Where it listens.
	Address string `json:"address"`

	// Its name, new with every start.
	ID string `json:"id"`

	// When it was last heard of: every ten seconds, if it is well.
	SeenAt Time `json:"seen_at"`

	// When it began to serve.
	StartedAt Time `json:"started_at"`

	// Whether it is the one that answers.
	This bool `json:"this"`

	// Its version.
	Version string `json:"version"`
}

// Nothing: The body of a verb that needs none.
type Nothing = map[string]any

// Notice: A notice: the message, and what has become of it.
type Notice struct {
	// The URL that is called after a success.
	CallbackURL string `json:"callback_url"`

	// How the data is written.
	ContentType ContentType `json:"content_type"`

	// When it was taken.
	CreatedAt Time `json:"created_at"`

	// What is sent, as it was given.
	Data json.RawMessage `json:"data"`

	// Whether all notices are sent, also after one has succeeded.
	EnforceRepeatNotice bool `json:"enforce_repeat_notice"`

	// What went wrong last.
	Error string `json:"error"`

	FinishedAt *Time `json:"finished_at"`

	// Whether redirects are followed.
	FollowRedirects bool `json:"follow_redirects"`

	// Headers that are sent; values of secret ones read as `***`.
	Headers map[string]string `json:"headers"`

	// The last 20 notices, oldest first.
	History []SentNotice `json:"history"`

	// How.
	HTTPMethod NoticeMethod `json:"http_method"`

	// Its id.
	ID string `json:"id"`

	// Most notices.
	MaxNotices *int `json:"max_notices"`

	// Notices that were sent.
	NoticeCount int `json:"notice_count"`

	// The same as it was understood: names and values of a form, a JSON value, an XML text.
	NoticeData json.RawMessage `json:"notice_data"`

	// The waits that are left between notices.
	NoticeInterval []DurationSeconds `json:"notice_interval"`

	NoticeTime *Time `json:"notice_time"`

	// Where it stands.
	State NoticeState `json:"state"`

	// What an answer must contain to be a success; empty: nothing.
	SuccessFlag string `json:"success_flag"`

	// The number of the first notice that succeeded; 0: none did.
	SuccessID int `json:"success_id"`

	// The time one notice may take.
	Timeout DurationSeconds `json:"timeout"`

	// The URL that is called.
	URL string `json:"url"`
}

// NoticeMethod: How a notice calls its URL.
type NoticeMethod string

// NoticeMethodPost is the NoticeMethod "post".
const NoticeMethodPost NoticeMethod = "post"

// NoticeMethodGet is the NoticeMethod "get".
const NoticeMethodGet NoticeMethod = "get"

// NoticeState: Where a notice stands.
type NoticeState string

// NoticeStateWaiting is the NoticeState "waiting".
const NoticeStateWaiting NoticeState = "waiting"

// NoticeStateDelivering is the NoticeState "delivering".
const NoticeStateDelivering NoticeState = "delivering"

// NoticeStateSucceeded is the NoticeState "succeeded".
const NoticeStateSucceeded NoticeState = "succeeded"

// NoticeStateExhausted is the NoticeState "exhausted".
const NoticeStateExhausted NoticeState = "exhausted"

// NoticeStateCancelled is the NoticeState "cancelled".
const NoticeStateCancelled NoticeState = "cancelled"

// OnError: What a run that fails for good makes of its plan: `stop`, `continue`, or `{"stop_after":n}`, which
// goes on until n runs in a row have failed.
type OnError = any

// OnErrorWord: The policies without a number.
type OnErrorWord string

// OnErrorWordStop is the OnErrorWord "stop".
const OnErrorWordStop OnErrorWord = "stop"

// OnErrorWordContinue is the OnErrorWord "continue".
const OnErrorWordContinue OnErrorWord = "continue"

// OnFailure: What a failed step does to the others.
type OnFailure string

// OnFailureStop is the OnFailure "stop".
const OnFailureStop OnFailure = "stop"

// OnFailureContinue is the OnFailure "continue".
const OnFailureContinue OnFailure = "continue"

// Order: The order among ready tasks of one priority.
type Order string

// OrderFifo is the Order "fifo".
const OrderFifo Order = "fifo"

// OrderRandom is the Order "random".
const OrderRandom Order = "random"

// Orders: What a worker is told.
type Orders struct {
	// Tasks it was given and has not confirmed, each with its token. They repeat until it does.
	Assignments []Task `json:"assignments"`

	// Tasks it holds and is asked to stop for good.
	Cancel []TaskName `json:"cancel"`

	// Tasks it holds and is asked to set aside.
	Pause []TaskName `json:"pause"`
}

// Outcome: How an attempt ended.
type Outcome string

// OutcomeDone is the Outcome "done".
const OutcomeDone Outcome = "done"

// OutcomeFailed is the Outcome "failed".
const OutcomeFailed Outcome = "failed"

// OutcomeReleased is the Outcome "released".
const OutcomeReleased Outcome = "released"

// OutcomeUnconfirmed is the Outcome "unconfirmed".
const OutcomeUnconfirmed Outcome = "unconfirmed"

// OutcomeLost is the Outcome "lost".
const OutcomeLost Outcome = "lost"

// OutcomeCancelled is the Outcome "cancelled".
const OutcomeCancelled Outcome = "cancelled"

// OutcomePaused is the Outcome "paused".
const OutcomePaused Outcome = "paused"

// OutcomeFreed is the Outcome "freed".
const OutcomeFreed Outcome = "freed"

// AccessTokenPage: A page of a list.
type AccessTokenPage struct {
	Items []AccessToken `json:"items"`

	Next string `json:"next"`
}

// AuditedPage: A page of a list.
type AuditedPage struct {
	Items []Audited `json:"items"`

	Next string `json:"next"`
}

// BundlePage: A page of a list.
type BundlePage struct {
	Items []Bundle `json:"items"`

	Next string `json:"next"`
}

// FailureGroupPage: A page of a list.
type FailureGroupPage struct {
	Items []FailureGroup `json:"items"`

	Next string `json:"next"`
}

// FlowSummaryPage: A page of a list.
type FlowSummaryPage struct {
	Items []FlowSummary `json:"items"`

	Next string `json:"next"`
}

// HostPage: A page of a list.
type HostPage struct {
	Items []Host `json:"items"`

	Next string `json:"next"`
}

// NoticePage: A page of a list.
type NoticePage struct {
	Items []Notice `json:"items"`

	Next string `json:"next"`
}

// PlanPage: A page of a list.
type PlanPage struct {
	Items []Plan `json:"items"`

	Next string `json:"next"`
}

// PlanResultPage: A page of a list.
type PlanResultPage struct {
	Items []PlanResult `json:"items"`

	Next string `json:"next"`
}

// QueuePage: A page of a list.
type QueuePage struct {
	Items []Queue `json:"items"`

	Next string `json:"next"`
}

// TaskPage: A page of a list.
type TaskPage struct {
	Items []Task `json:"items"`

	Next string `json:"next"`
}

// TimePage: A page of a list.
type TimePage struct {
	Items []Time `json:"items"`

	Next string `json:"next"`
}

// WorkerPage: A page of a list.
type WorkerPage struct {
	Items []Worker `json:"items"`

	Next string `json:"next"`
}

// Plan: A plan: all it was given, and how it stands.
type Plan struct {
	// The pattern of a rule of type cron.
	Cron string `json:"cron,omitempty"`

	// Whether occurrences that are past are kept instead of skipped.
	NoKeep *bool `json:"no_keep,omitempty"`

	// Another name of `repeat`.
	PlanRepet *int `json:"plan_repet,omitempty"`

	// When it is due, from when it repeats, or at which time of day; 0: not given.
	PlanTime json.RawMessage `json:"plan_time"`

	// What kind of rule it is.
	PlanType PlanType `json:"plan_type"`

	// How many units lie between two runs, or on which day they are.
	PlanValue *int `json:"plan_value,omitempty"`

	// How often it runs; -1 for ever.
	Repeat *int `json:"repeat,omitempty"`

	// The zone of its local times.
	Timezone string `json:"timezone,omitempty"`

	// The bundle of the station that it pushes into instead.
	BundleKey string `json:"bundle_key,omitempty"`

	Callback *Callback `json:"callback,omitempty"`

	// Who made it.
	Caller string `json:"caller,omitempty"`

	// When it was made.
	CreatedAt Time `json:"created_at"`

	// What it is for.
	Description string `json:"description,omitempty"`

	// What went wrong last.
	Error string `json:"error,omitempty"`

	ExecTime *Time `json:"exec_time,omitempty"`

	// Runs that failed in a row.
	Failures int `json:"failures"`

	FinishedAt *Time `json:"finished_at,omitempty"`

	Hold *DurationSeconds `json:"hold,omitempty"`

	HTTP *TaskHTTP `json:"http,omitempty"`

	// How many results are kept.
	KeepResults int `json:"keep_results"`

	LastState LastState `json:"last_state,omitempty"`

	// Their limit of attempts; -1 for none.
	MaxAttempts *int `json:"max_attempts,omitempty"`

	// The payload of its runs.
	Message json.RawMessage `json:"message"`

	NextAt *Time `json:"next_at,omitempty"`

	// What a run that fails for good makes of it.
	OnError json.RawMessage `json:"on_error"`

	// Its id.
	PlanID string `json:"plan_id"`

	// Their priority.
	Priority int `json:"priority"`

	// The queue its runs are pushed to.
	Queue string `json:"queue"`

	// Runs that were done, and those that failed while the plan went on.
	RealRepet int `json:"real_repet"`

	// The caller's own id for it.
	RequestID string `json:"request_id,omitempty"`

	// Capabilities their worker must have.
	Requires []string `json:"requires"`

	Retry *Retry `json:"retry,omitempty"`

	// Occurrences that were skipped.
	Skipped int `json:"skipped"`

	// Where it stands.
	State PlanState `json:"state"`

	// Another name of `queue`.
	Station string `json:"station"`

	// Their labels.
	Tags []string `json:"tags"`

	// The task of its run that has not ended.
	Task string `json:"task,omitempty"`
}

// PlanResult: What is kept of a run.
type PlanResult struct {
	// When it ended.
	At Time `json:"at"`

	// What went wrong.
	Error string `json:"error,omitempty"`

	// The time it was due.
	PlanTime Time `json:"plan_time"`

	// What it came to.
	Result json.RawMessage `json:"result"`

	// Which run: its number, or a text like `3.1` for one besides the rule.
	Run json.RawMessage `json:"run"`

	// Who made it.
	Worker string `json:"worker,omitempty"`
}

// PlanState: Where a plan stands.
type PlanState string

// PlanStateScheduled is the PlanState "scheduled".
const PlanStateScheduled PlanState = "scheduled"

// PlanStateRunning is the PlanState "running".
const PlanStateRunning PlanState = "running"

// PlanStatePaused is the PlanState "paused".
const PlanStatePaused PlanState = "paused"

// PlanStateError is the PlanState "error".
const PlanStateError PlanState = "error"

// PlanStateFinished is the PlanState "finished".
const PlanStateFinished PlanState = "finished"

// PlanType: The kind of a rule.
type PlanType string

// PlanTypeNone is the PlanType "none".
const PlanTypeNone PlanType = "none"

// PlanTypeTime is the PlanType "time".
const PlanTypeTime PlanType = "time"

// PlanTypeSecond is the PlanType "second".
const PlanTypeSecond PlanType = "second"

// PlanTypeMinute is the PlanType "minute".
const PlanTypeMinute PlanType = "minute"

// PlanTypeHour is the PlanType "hour".
const PlanTypeHour PlanType = "hour"

// PlanTypeDay is the PlanType "day".
const PlanTypeDay PlanType = "day"

// PlanTypeWeek is the PlanType "week".
const PlanTypeWeek PlanType = "week"

// PlanTypeMonth is the PlanType "month".
const PlanTypeMonth PlanType = "month"

// PlanTypeCron is the PlanType "cron".
const PlanTypeCron PlanType = "cron"

// Poll: How to hear what is new.
type Poll struct {
	// Which incarnation asks; one that has been followed by another is refused.
	Session string `json:"session,omitempty"`

	Wait Duration `json:"wait,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Poll) MarshalJSON() ([]byte, error) {
	type plain Poll
	return withAlso(plain(v), v.Also)
}

// Preview: A rule, and how many of its times are wanted.
type Preview struct {
	// The pattern of a rule of type cron.
	Cron string `json:"cron,omitempty"`

	// How many times at most, 1 to 1000.
	N int `json:"n,omitempty"`

	// Whether occurrences that are past are kept instead of skipped.
	NoKeep bool `json:"no_keep,omitempty"`

	// Another name of `repeat`.
	PlanRepet int `json:"plan_repet,omitempty"`

	// When it is due, from when it repeats, or at which time of day.
	PlanTime any `json:"plan_time,omitempty"`

	// What kind of rule it is.
	PlanType RuleType `json:"plan_type"`

	// How many units lie between two runs (1 to 32767), or on which day they are.
	PlanValue int `json:"plan_value,omitempty"`

	// How often it runs, -1 for ever; required if it repeats.
	Repeat int `json:"repeat,omitempty"`

	// The IANA zone of its local times.
	Timezone string `json:"timezone,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Preview) MarshalJSON() ([]byte, error) {
	type plain Preview
	return withAlso(plain(v), v.Also)
}

// Problem: What a client is told when a request was refused.
type Problem struct {
	// A stable word for programs.
	Code string `json:"code"`

	// What is wrong with this request, and what to do about it.
	Detail string `json:"detail"`

	// With status 503: whether the request may have taken effect all the same.
	Effect string `json:"effect,omitempty"`

	// The HTTP status.
	Status int `json:"status"`

	// What the code means, in a few words.
	Title string `json:"title"`

	// A URI for the kind of problem: `urn:punctual:` and the code.
	Type string `json:"type"`
}

// Push: One task, or a batch of them.
type Push = NewTask

// Queue: A queue.
type Queue struct {
	AbandonAfter *DurationSeconds `json:"abandon_after"`

	// What becomes of it then.
	Abandoned Abandoned `json:"abandoned"`

	// Most tasks held at once; null: unlimited.
	Concurrency *int `json:"concurrency"`

	// How long a worker has to confirm.
	ConfirmWithin DurationSeconds `json:"confirm_within"`

	// What it holds.
	Counts Counts `json:"counts"`

	// When it was made.
	CreatedAt Time `json:"created_at"`

	// Headers sent to that target; secret values read as `***`.
	Headers map[string]string `json:"headers"`

	// How long a taken task is held before it counts as lost.
	Hold DurationSeconds `json:"hold"`

	// How long finished tasks stay readable.
	Keep Keep `json:"keep"`

	// Most live tasks; null: unlimited.
	Max *int `json:"max"`

	// Takes before a task is failed; -1 for no limit.
	MaxAttempts int `json:"max_attempts"`

	MaxRuntime *DurationSeconds `json:"max_runtime"`

	// Who carries out its tasks.
	Mode Mode `json:"mode"`

	// Its name.
	Name string `json:"name"`

	OldestReadyAge *DurationSeconds `json:"oldest_ready_age"`

	// The order among ready tasks of one priority.
	Order Order `json:"order"`

	// Whether nothing is handed out.
	Paused bool `json:"paused"`

	Rate *Rate `json:"rate"`

	// When to try again.
	Retry Retry `json:"retry"`

	// `***` if there is one.
	Secret string `json:"secret"`

	// A label to tell queues apart.
	Tag string `json:"tag"`

	// The time one delivery may take.
	Timeout DurationSeconds `json:"timeout"`

	// Target of tasks that name none.
	URL string `json:"url"`
}

// QueueStats: How much happened in a queue in each minute of the last hour; the last number is of the one under
// way.
type QueueStats struct {
	// Tasks that ended well, per step.
	Done []int `json:"done"`

	// Tasks that ended badly, per step.
	Failed []int `json:"failed"`

	// Tasks that came in, per step.
	Pushed []int `json:"pushed"`

	// The queue.
	Queue string `json:"queue"`

	// The length of a step, in seconds.
	Step int `json:"step"`
}

// Rate: A token bucket: bursts of `limit`, refilled evenly over `per`.
type Rate struct {
	// Tasks handed out at most.
	Limit int `json:"limit"`

	// In this time.
	Per Duration `json:"per"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Rate) MarshalJSON() ([]byte, error) {
	type plain Rate
	return withAlso(plain(v), v.Also)
}

// Ready: That the server can do its work.
type Ready struct {
	// What an acknowledgement is worth.
	Durability string `json:"durability"`

	// Always true; if not ready, the answer is 503.
	Ready bool `json:"ready"`

	// The kind of store.
	Store string `json:"store"`
}

// Reason: Why a task is not running now.
type Reason string

// ReasonNotDue is the Reason "not_due".
const ReasonNotDue Reason = "not_due"

// ReasonRetryWait is the Reason "retry_wait".
const ReasonRetryWait Reason = "retry_wait"

// ReasonPaused is the Reason "paused".
const ReasonPaused Reason = "paused"

// ReasonQueuePaused is the Reason "queue_paused".
const ReasonQueuePaused Reason = "queue_paused"

// ReasonConcurrency is the Reason "concurrency".
const ReasonConcurrency Reason = "concurrency"

// ReasonRate is the Reason "rate".
const ReasonRate Reason = "rate"

// ReasonNoTaker is the Reason "no_taker".
const ReasonNoTaker Reason = "no_taker"

// ReasonNoWorker is the Reason "no_worker".
const ReasonNoWorker Reason = "no_worker"

// ReasonNoCapableWorker is the Reason "no_capable_worker".
const ReasonNoCapableWorker Reason = "no_capable_worker"

// ReasonWorkersBusy is the Reason "workers_busy".
const ReasonWorkersBusy Reason = "workers_busy"

// ReasonTargetBusy is the Reason "target_busy".
const ReasonTargetBusy Reason = "target_busy"

// ReasonDeliveriesBusy is the Reason "deliveries_busy".
const ReasonDeliveriesBusy Reason = "deliveries_busy"

// ReasonTargetDown is the Reason "target_down".
const ReasonTargetDown Reason = "target_down"

// ReasonInLine is the Reason "in_line".
const ReasonInLine Reason = "in_line"

// ReasonUnconfirmed is the Reason "unconfirmed".
const ReasonUnconfirmed Reason = "unconfirmed"

// ReasonRunning is the Reason "running".
const ReasonRunning Reason = "running"

// ReasonPausing is the Reason "pausing".
const ReasonPausing Reason = "pausing"

// ReasonCancelling is the Reason "cancelling".
const ReasonCancelling Reason = "cancelling"

// ReasonFinished is the Reason "finished".
const ReasonFinished Reason = "finished"

// ReasonWaitingForSteps is the Reason "waiting_for_steps".
const ReasonWaitingForSteps Reason = "waiting_for_steps"

// ReasonFlowPaused is the Reason "flow_paused".
const ReasonFlowPaused Reason = "flow_paused"

// ReasonFlowStopped is the Reason "flow_stopped".
const ReasonFlowStopped Reason = "flow_stopped"

// Release: Given back.
type Release struct {
	// What its next holder needs to go on.
	Checkpoint any `json:"checkpoint,omitempty"`

	Delay Duration `json:"delay,omitempty"`

	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Release) MarshalJSON() ([]byte, error) {
	type plain Release
	return withAlso(plain(v), v.Also)
}

// ReleaseItem: Given back.
type ReleaseItem struct {
	// What its next holder needs to go on.
	Checkpoint any `json:"checkpoint,omitempty"`

	Delay Duration `json:"delay,omitempty"`

	// The task's id.
	ID string `json:"id"`

	// The token the take answered.
	Token string `json:"token"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v ReleaseItem) MarshalJSON() ([]byte, error) {
	type plain ReleaseItem
	return withAlso(plain(v), v.Also)
}

// Result: The answer to one item of a batch.
type Result struct {
	// Of an extend: whether the holder is asked to stop for good.
	Cancel *bool `json:"cancel,omitempty"`

	// Why it was not, for programs.
	Code string `json:"code,omitempty"`

	// Why it was not, for people.
	Detail string `json:"detail,omitempty"`

	// Of an extend: when the hold ends now.
	HoldUntil *Time `json:"hold_until,omitempty"`

	// The task's id, if the item has one; one that is malformed as it was sent.
	ID string `json:"id"`

	// Whether it was carried out.
	Ok bool `json:"ok"`

	// Of an extend: whether the holder is asked to set the task aside.
	Pause *bool `json:"pause,omitempty"`
}

// Results: The answers of a batch.
type Results struct {
	// One per item, in the order of the request.
	Results []Result `json:"results"`
}

// Retry: When to try again: either `intervals`, or the rest.
type Retry struct {
	// By how much each wait is longer than the one before, 1 to 1000.
	Factor float64 `json:"factor,omitempty"`

	First Duration `json:"first,omitempty"`

	// One wait after another; the last repeats.
	Intervals []Duration `json:"intervals,omitempty"`

	// Each wait is up to this share shorter or longer, at random, 0 to 1.
	Jitter float64 `json:"jitter,omitempty"`

	Max Duration `json:"max,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Retry) MarshalJSON() ([]byte, error) {
	type plain Retry
	return withAlso(plain(v), v.Also)
}

// RetryNow: How to try again.
type RetryNow struct {
	// Also if it is running: its holder's token goes stale.
	Force bool `json:"force,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v RetryNow) MarshalJSON() ([]byte, error) {
	type plain RetryNow
	return withAlso(plain(v), v.Also)
}

// Right: What a token may be good for.
type Right string

// RightRead is the Right "read".
const RightRead Right = "read"

// RightProduce is the Right "produce".
const RightProduce Right = "produce"

// RightConsume is the Right "consume".
const RightConsume Right = "consume"

// RightAdmin is the Right "admin".
const RightAdmin Right = "admin"

// RuleType is a type of the interface.
type RuleType = any

// RuleView: A plan's rule.
type RuleView struct {
	// The pattern of a rule of type cron.
	Cron string `json:"cron,omitempty"`

	// Whether occurrences that are past are kept instead of skipped.
	NoKeep *bool `json:"no_keep,omitempty"`

	// Another name of `repeat`.
	PlanRepet *int `json:"plan_repet,omitempty"`

	// When it is due, from when it repeats, or at which time of day; 0: not given.
	PlanTime json.RawMessage `json:"plan_time"`

	// What kind of rule it is.
	PlanType PlanType `json:"plan_type"`

	// How many units lie between two runs, or on which day they are.
	PlanValue *int `json:"plan_value,omitempty"`

	// How often it runs; -1 for ever.
	Repeat *int `json:"repeat,omitempty"`

	// The zone of its local times.
	Timezone string `json:"timezone,omitempty"`
}

// Scale: How many workers a queue has and needs.
type Scale struct {
	// Tasks that are ready and wait for a worker.
	Backlog int `json:"backlog"`

	// Workers it takes to keep up with what arrives and to work off the backlog within a minute, by the rates of
	// about the last minute. 1 until a task has been worked on; 0 if idle.
	DesiredWorkers int `json:"desired_workers"`

	// Workers that took, waited or reported within the last 90 seconds; if none has given its name, tasks held and
	// takers waiting.
	Workers int `json:"workers"`
}

// Secret: One secret, or several.
type Secret = any

// SentNotice: A notice that was sent.
type SentNotice struct {
	// The first 4 KiB of the answer.
	Answer string `json:"answer"`

	// When.
	At Time `json:"at"`

	// When that came to an end.
	EndedAt Time `json:"ended_at"`

	// What went wrong; null for a success.
	Error string `json:"error"`

	HTTP *Exchange `json:"http"`

	// The HTTP status that was answered.
	Status *int `json:"status"`
}

// Setting: A setting that holds.
type Setting struct {
	// Its name, as in the file of settings.
	Name string `json:"name"`

	// Where it comes from.
	Source Source `json:"source"`

	// Its value; null: none. What is secret is `"***"`.
	Value json.RawMessage `json:"value"`
}

// Settings: What can be set about a queue. What is left out stays, `null` sets it back.
type Settings struct {
	AbandonAfter Duration `json:"abandon_after,omitempty"`

	Abandoned Abandoned `json:"abandoned,omitempty"`

	// Most tasks held at once; unlimited.
	Concurrency int `json:"concurrency,omitempty"`

	ConfirmWithin Duration `json:"confirm_within,omitempty"`

	// Headers sent to that target.
	Headers map[string]string `json:"headers,omitempty"`

	Hold Duration `json:"hold,omitempty"`

	Keep *Keep `json:"keep,omitempty"`

	// Most live tasks; unlimited.
	Max int `json:"max,omitempty"`

	// Takes before a task is failed, -1 for no limit; 5.
	MaxAttempts int `json:"max_attempts,omitempty"`

	MaxRuntime Duration `json:"max_runtime,omitempty"`

	Mode Mode `json:"mode,omitempty"`

	Order Order `json:"order,omitempty"`

	Rate *Rate `json:"rate,omitempty"`

	Retry *Retry `json:"retry,omitempty"`

	Secret Secret `json:"secret,omitempty"`

	// A label to tell queues apart.
	Tag string `json:"tag,omitempty"`

	Timeout Duration `json:"timeout,omitempty"`

	// Target of tasks that name none.
	URL string `json:"url,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Settings) MarshalJSON() ([]byte, error) {
	type plain Settings
	return withAlso(plain(v), v.Also)
}

// Skip: How many occurrences to pass over.
type Skip struct {
	// How many, 1 to 1000.
	N int `json:"n,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Skip) MarshalJSON() ([]byte, error) {
	type plain Skip
	return withAlso(plain(v), v.Also)
}

// Source: Where a setting comes from.
type Source string

// SourceDefault is the Source "default".
const SourceDefault Source = "default"

// SourceFile is the Source "file".
const SourceFile Source = "file"

// SourceEnvironment is the Source "environment".
const SourceEnvironment Source = "environment"

// SourceFlag is the Source "flag".
const SourceFlag Source = "flag"

// State: Where a task stands.
type State string

// StateWaiting is the State "waiting".
const StateWaiting State = "waiting"

// StateReady is the State "ready".
const StateReady State = "ready"

// StateAssigned is the State "assigned".
const StateAssigned State = "assigned"

// StateRunning is the State "running".
const StateRunning State = "running"

// StatePausing is the State "pausing".
const StatePausing State = "pausing"

// StateCancelling is the State "cancelling".
const StateCancelling State = "cancelling"

// StatePaused is the State "paused".
const StatePaused State = "paused"

// StateDone is the State "done".
const StateDone State = "done"

// StateFailed is the State "failed".
const StateFailed State = "failed"

// StateCancelled is the State "cancelled".
const StateCancelled State = "cancelled"

// States: One state, or several.
type States = any

// Stats: How much happened in each ten seconds of the last hour; the last number is of those under way.
type Stats struct {
	// Tasks that ended well, per step.
	Done []int `json:"done"`

	// Tasks that ended badly, per step.
	Failed []int `json:"failed"`

	// When the first step began.
	From string `json:"from"`

	// Tasks that came in, per step.
	Pushed []int `json:"pushed"`

	// The length of a step, in seconds.
	Step int `json:"step"`

	// Tasks that were handed out, per step.
	Taken []int `json:"taken"`
}

// Statuses: Statuses of answers.
type Statuses = any

// StopAfter: The policy with a number.
type StopAfter struct {
	// How many runs have to fail in a row.
	StopAfter int `json:"stop_after"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v StopAfter) MarshalJSON() ([]byte, error) {
	type plain StopAfter
	return withAlso(plain(v), v.Also)
}

// StoreState: The store of a server.
type StoreState struct {
	// Whether it can be read and written now.
	Available bool `json:"available"`

	// About how many bytes it takes: its files, or what Redis says it uses; null if that is not known.
	Bytes *int `json:"bytes"`

	// What an acknowledgement is worth.
	Durability string `json:"durability"`

	// Its kind.
	Kind string `json:"kind"`

	// Why it cannot.
	Problem string `json:"problem"`

	// How many queues it has; null while it cannot be read.
	Queues *int `json:"queues"`
}

// Success: What counts as success. Both must hold.
type Success struct {
	// A text the answer must contain, in its first MiB.
	Contains string `json:"contains,omitempty"`

	Status Statuses `json:"status,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Success) MarshalJSON() ([]byte, error) {
	type plain Success
	return withAlso(plain(v), v.Also)
}

// System: The server, its store, and the servers it shares that with.
type System struct {
	// Whether that clock can be moved.
	Dev bool `json:"dev"`

	// The servers that share it, by when they started. One that ended without a word stays for an hour.
	Nodes []Node `json:"nodes"`

	// What time it is by the store's clock.
	Now Time `json:"now"`

	// When it began to serve.
	StartedAt Time `json:"started_at"`

	// The store.
	Store StoreState `json:"store"`

	// The version of this server.
	Version string `json:"version"`
}

// Take: What a worker asks for.
type Take struct {
	// Tasks it is done with; these commits stand whatever becomes of the take.
	Commit []CommitItem `json:"commit,omitempty"`

	// Whether it will confirm what it gets.
	Confirm bool `json:"confirm,omitempty"`

	Hold Duration `json:"hold,omitempty"`

	// How many tasks at most, 1 to 1000.
	N int `json:"n,omitempty"`

	Wait Duration `json:"wait,omitempty"`

	// Its name.
	Worker string `json:"worker,omitempty"`

	// Also has further members, which are sent as they are: null, zero, or those of newer servers.
	Also map[string]any `json:"-"`
}

// MarshalJSON writes the fields that have a value, and Also.
func (v Take) MarshalJSON() ([]byte, error) {
	type plain Take
	return withAlso(plain(v), v.Also)
}

// Taken: What a worker gets.
type Taken struct {
	// The answers to `commit`.
	Committed []Result `json:"committed,omitempty"`

	// The tasks, each with its token.
	Tasks []Task `json:"tasks"`
}

// Task: A task.
type Task struct {
	// Times taken.
	Attempt int `json:"attempt"`

	// The task to make when it ends; values of secret headers read as `***`.
	Callback *Callback `json:"callback,omitempty"`

	// What its next holder needs to go on.
	Checkpoint json.RawMessage `json:"checkpoint"`

	// When it was pushed.
	CreatedAt Time `json:"created_at"`

	// When it is due, or its next attempt is.
	DueAt Time `json:"due_at"`

	// What went wrong last.
	Error string `json:"error"`

	// The time by which it must have started; else it fails.
	Expires *Time `json:"expires,omitempty"`

	FinishedAt *Time `json:"finished_at"`

	Flow *FlowPart `json:"flow,omitempty"`

	// The last 20 attempts, oldest first.
	History []Attempt `json:"history"`

	// Its own hold, where that is not the queue's.
	Hold *DurationSeconds `json:"hold,omitempty"`

	HoldUntil *Time `json:"hold_until"`

	// Where it is delivered, if it says so itself; values of secret headers read as `***`.
	HTTP *TaskHTTP `json:"http,omitempty"`

	// Its id.
	ID string `json:"id"`

	// Takes before it is failed; -1 for no limit.
	MaxAttempts int `json:"max_attempts"`

	// The longest one attempt may hold it, if it says so itself.
	MaxRuntime *DurationSeconds `json:"max_runtime,omitempty"`

	// What its holder last said.
	Message string `json:"message"`

	// What was pushed; not in a list that asks for less.
	Payload json.RawMessage `json:"payload,omitempty"`

	// The first 200 characters of the payload's JSON text, in a list with `payload=preview`.
	PayloadPreview string `json:"payload_preview,omitempty"`

	// The plan it is a run of.
	Plan json.RawMessage `json:"plan"`

	// Higher goes first.
	Priority int `json:"priority"`

	// How far it is, from 0 to 1.
	Progress *float64 `json:"progress"`

	// Its queue.
	Queue string `json:"queue"`

	// Capabilities its worker must have.
	Requires []string `json:"requires,omitempty"`

	// What it came to.
	Result json.RawMessage `json:"result"`

	// Its own waits between attempts, where they are not the queue's.
	Retry *Retry `json:"retry,omitempty"`

	// Where it stands.
	State State `json:"state"`

	// Labels.
	Tags []string `json:"tags"`

	TakenAt *Time `json:"taken_at"`

	// The holder's token; only in the answer to its take.
	Token string `json:"token,omitempty"`

	// The span it was pushed in, if it belongs to a trace: carry it on.
	Traceparent string `json:"traceparent,omitempty"`

	// How long its id stays reserved after its end.
	UniqueFor *DurationSeconds `json:"unique_for,omitempty"`

	// Its worker, while held and after the end.
	Worker string `json:"worker"`
}

// TaskHTTP: Where and how a task is delivered, as it was pushed.
type TaskHTTP struct {
	// What is sent instead of the payload.
	Body json.RawMessage `json:"body"`

	// The type of what is sent.
	ContentType string `json:"content_type"`

	// Whether redirects are followed.
	FollowRedirects bool `json:"follow_redirects"`

	// Headers it is sent with; values of secret ones read as `***`.
	Headers map[string]string `json:"headers"`

	Method Method `json:"method"`

	Success *Success `json:"success"`

	Timeout *DurationSeconds `json:"timeout"`

	// The target; null: the queue's.
	URL string `json:"url"`
}

// TaskName: Which task.
type TaskName struct {
	// Its id.
	ID string `json:"id"`

	// Its queue.
	Queue string `json:"queue"`
}

// TaskOrGone: A task; or its name, where the task is gone.
type TaskOrGone = Task

// Time: RFC 3339, in UTC, with milliseconds
type Time = time.Time

// Token: A token, without what it is.
type Token struct {
	// The first 8 hexadecimal digits of its SHA-256.
	Hash string `json:"hash"`

	// The queues they hold for; null: for all.
	Queues []string `json:"queues"`

	// Its rights.
	Rights []Right `json:"rights"`
}

// Tokens: The tokens of a server.
type Tokens struct {
	// In the order of the settings.
	Items []Token `json:"items"`
}

// Totals: What queues hold together.
type Totals struct {
	// Those that hold most tasks that have not ended, most first: at most 5. One that is paused may hold nothing.
	Busiest []Queue `json:"busiest"`

	// What they hold.
	Counts Counts `json:"counts"`

	OldestReadyAge *DurationSeconds `json:"oldest_ready_age"`

	// Its queue.
	OldestReadyQueue string `json:"oldest_ready_queue"`

	// How many of them are paused.
	Paused int `json:"paused"`

	// How many queues there are.
	Queues int `json:"queues"`
}

// When: A point in time, at most in the year 9999
type When string

// MarshalJSON writes a number as a number.
func (v When) MarshalJSON() ([]byte, error) { return textOrNumber(string(v)) }

// UnmarshalJSON reads text or a number.
func (v *When) UnmarshalJSON(from []byte) error { return readText(from, (*string)(v)) }

// Why: Why a task is not running now.
type Why struct {
	// What went wrong last.
	Error string `json:"error,omitempty"`

	// The limit that keeps it.
	Limit *int `json:"limit,omitempty"`

	// Ready tasks of the queue, this one among them.
	Ready *int `json:"ready,omitempty"`

	// A word for programs.
	Reason Reason `json:"reason"`

	// Where it stands: a task's state, or `pending` for a step of a flow that is no task yet.
	State string `json:"state"`

	// One sentence.
	Text string `json:"text"`

	// When that changes by itself.
	Until *Time `json:"until,omitempty"`

	// The steps of its flow that must be done first.
	WaitingFor []string `json:"waiting_for,omitempty"`

	// Who has it.
	Worker string `json:"worker,omitempty"`
}

// Worker: A worker.
type Worker struct {
	// What it is capable of.
	Capabilities []string `json:"capabilities"`

	// Most tasks of dispatch queues it holds at once.
	Capacity int `json:"capacity"`

	// When this incarnation joined.
	JoinedAt Time `json:"joined_at"`

	// When it was last heard of.
	LastHeartbeat Time `json:"last_heartbeat"`

	// How many tasks of dispatch queues it holds.
	Load int `json:"load"`

	// Its name.
	Name string `json:"name"`

	// The queues it serves.
	Queues []string `json:"queues"`

	// Which incarnation it is, as it says itself.
	Session string `json:"session"`

	// Whether it is given tasks.
	State WorkerState `json:"state"`
}

// WorkerState: Where a worker stands.
type WorkerState string

// WorkerStateActive is the WorkerState "active".
const WorkerStateActive WorkerState = "active"

// WorkerStateDraining is the WorkerState "draining".
const WorkerStateDraining WorkerState = "draining"

// WorkerStateLost is the WorkerState "lost".
const WorkerStateLost WorkerState = "lost"
