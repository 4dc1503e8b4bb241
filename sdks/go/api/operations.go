// Written by sdks/generate from /openapi.json. DO NOT EDIT: change nothing here by hand.

package api

import "context"

// Livez calls GET /livez. Whether the server runs.
func (c *Client) Livez(ctx context.Context) (*Live, error) {
	return answer[Live](ctx, c, Call{Method: "GET", Path: Path("/livez")})
}

// Metrics calls GET /metrics. Read what is measured, for Prometheus.
func (c *Client) Metrics(ctx context.Context) (string, error) {
	return c.Text(ctx, Call{Method: "GET", Path: Path("/metrics")})
}

// Readyz calls GET /readyz. Whether the server can do its work.
func (c *Client) Readyz(ctx context.Context) (*Ready, error) {
	return answer[Ready](ctx, c, Call{Method: "GET", Path: Path("/readyz")})
}

// Access calls GET /v1/access. Say what the token that was sent is good for. Any token may ask.
func (c *Client) Access(ctx context.Context) (*Access, error) {
	return answer[Access](ctx, c, Call{Method: "GET", Path: Path("/v1/access")})
}

// BackUp calls POST /v1/backup. Copy the store into one file, as it is at this moment. Only the embedded store
// is copied.
func (c *Client) BackUp(ctx context.Context) ([]byte, error) {
	return c.Bytes(ctx, Call{Method: "POST", Path: Path("/v1/backup")})
}

// MoveClock calls POST /v1/dev/clock. Move the server's clock, as if it had slept; only with `serve --dev`.
func (c *Client) MoveClock(ctx context.Context, body Move) (*Clock, error) {
	return answer[Clock](ctx, c, Call{Method: "POST", Path: Path("/v1/dev/clock"), Body: body, IsOnce: true})
}

// ListFailuresOptions are the options of ListFailures. A field without a value is left out.
type ListFailuresOptions struct {
	// Only those of this queue.
	Queue string

	// The `next` of the page before.
	Cursor string
}

// ListFailures calls GET /v1/failures. Group failed tasks by queue and error, those that failed last first.
func (c *Client) ListFailures(ctx context.Context, options ...ListFailuresOptions) (*FailureGroupPage, error) {
	o := last(options)
	return answer[FailureGroupPage](ctx, c, Call{Method: "GET", Path: Path("/v1/failures"), Query: []Pair{{"queue", o.Queue}, {"cursor", o.Cursor}}})
}

// ListFlowsOptions are the options of ListFlows. A field without a value is left out.
type ListFlowsOptions struct {
	// Only those in these states, separated by commas.
	State FlowState

	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// ListFlows calls GET /v1/flows. List flows by id, without their steps.
func (c *Client) ListFlows(ctx context.Context, options ...ListFlowsOptions) (*FlowSummaryPage, error) {
	o := last(options)
	return answer[FlowSummaryPage](ctx, c, Call{Method: "GET", Path: Path("/v1/flows"), Query: []Pair{{"state", o.State}, {"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// CreateFlowOptions are the options of CreateFlow. A field without a value is left out.
type CreateFlowOptions struct {
	// 1 to 255 ASCII characters; a repeat under the same key has no second effect
	IdempotencyKey string

	// The span it is made in, as W3C Trace Context says; its tasks carry it on
	Traceparent string
}

// CreateFlow calls POST /v1/flows. Make a flow.
func (c *Client) CreateFlow(ctx context.Context, body NewFlow, options ...CreateFlowOptions) (*Flow, error) {
	o := last(options)
	return answer[Flow](ctx, c, Call{Method: "POST", Path: Path("/v1/flows"), Body: body, Headers: []Pair{{"Idempotency-Key", o.IdempotencyKey}, {"traceparent", o.Traceparent}}, IsKeyed: true})
}

// GetFlow calls GET /v1/flows/{id}. Read a flow with all its steps.
func (c *Client) GetFlow(ctx context.Context, id string) (*Flow, error) {
	return answer[Flow](ctx, c, Call{Method: "GET", Path: Path("/v1/flows/{id}", id)})
}

// CancelFlow calls POST /v1/flows/{id}/cancel. End a flow: no step is started any more, and tasks that have not
// ended are cancelled.
func (c *Client) CancelFlow(ctx context.Context, id string) (*Flow, error) {
	return answer[Flow](ctx, c, Call{Method: "POST", Path: Path("/v1/flows/{id}/cancel", id)})
}

// PauseFlow calls POST /v1/flows/{id}/pause. Set a flow aside: no step is started, tasks that nobody began are
// paused, running ones finish.
func (c *Client) PauseFlow(ctx context.Context, id string) (*Flow, error) {
	return answer[Flow](ctx, c, Call{Method: "POST", Path: Path("/v1/flows/{id}/pause", id)})
}

// ResumeFlow calls POST /v1/flows/{id}/resume. Let a paused flow go on.
func (c *Client) ResumeFlow(ctx context.Context, id string) (*Flow, error) {
	return answer[Flow](ctx, c, Call{Method: "POST", Path: Path("/v1/flows/{id}/resume", id)})
}

// RetryFlow calls POST /v1/flows/{id}/retry. Make the failed and cancelled steps of a flow again; those that are
// done stay done.
func (c *Client) RetryFlow(ctx context.Context, id string) (*Flow, error) {
	return answer[Flow](ctx, c, Call{Method: "POST", Path: Path("/v1/flows/{id}/retry", id)})
}

// ListHosts calls GET /v1/hosts. List the targets of deliveries: those that something is under way for, and
// those known of late.
func (c *Client) ListHosts(ctx context.Context) (*HostPage, error) {
	return answer[HostPage](ctx, c, Call{Method: "GET", Path: Path("/v1/hosts")})
}

// ListNoticesOptions are the options of ListNotices. A field without a value is left out.
type ListNoticesOptions struct {
	// Only these states, separated by commas, listed in this order: `waiting`, `delivering`, `succeeded`,
	// `exhausted`, `cancelled`.
	State string

	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// ListNotices calls GET /v1/notices. List notices.
func (c *Client) ListNotices(ctx context.Context, options ...ListNoticesOptions) (*NoticePage, error) {
	o := last(options)
	return answer[NoticePage](ctx, c, Call{Method: "GET", Path: Path("/v1/notices"), Query: []Pair{{"state", o.State}, {"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// PushNoticeOptions are the options of PushNotice. A field without a value is left out.
type PushNoticeOptions struct {
	// 1 to 255 ASCII characters; a repeat under the same key has no second effect
	IdempotencyKey string

	// The span it is made in, as W3C Trace Context says; its tasks carry it on
	Traceparent string
}

// PushNotice calls POST /v1/notices. Send a notice.
func (c *Client) PushNotice(ctx context.Context, body Message, options ...PushNoticeOptions) (*Notice, error) {
	o := last(options)
	return answer[Notice](ctx, c, Call{Method: "POST", Path: Path("/v1/notices"), Body: body, Headers: []Pair{{"Idempotency-Key", o.IdempotencyKey}, {"traceparent", o.Traceparent}}, IsKeyed: true})
}

// CancelNotice calls DELETE /v1/notices/{id}. Send a notice no more, also if one is under way. It reads as
// `cancelled` for 24 h.
func (c *Client) CancelNotice(ctx context.Context, id string) error {
	return c.None(ctx, Call{Method: "DELETE", Path: Path("/v1/notices/{id}", id)})
}

// GetNotice calls GET /v1/notices/{id}. Read a notice.
func (c *Client) GetNotice(ctx context.Context, id string) (*Notice, error) {
	return answer[Notice](ctx, c, Call{Method: "GET", Path: Path("/v1/notices/{id}", id)})
}

// RetryNotice calls POST /v1/notices/{id}/retry. Send one more notice now: of one that is exhausted, or one that
// waits for its next.
func (c *Client) RetryNotice(ctx context.Context, id string) (*Notice, error) {
	return answer[Notice](ctx, c, Call{Method: "POST", Path: Path("/v1/notices/{id}/retry", id)})
}

// ListPlansOptions are the options of ListPlans. A field without a value is left out.
type ListPlansOptions struct {
	// Only those whose runs go to this queue.
	Queue string

	// Another name of `queue`.
	Station string

	// Only those in these states, separated by commas.
	State PlanState

	// `next`: by the time they wait for, the soonest first, those without left out; `name`: by station and id, as
	// if left out.
	Order string

	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// ListPlans calls GET /v1/plans. List plans, by station and id or by the time they wait for.
func (c *Client) ListPlans(ctx context.Context, options ...ListPlansOptions) (*PlanPage, error) {
	o := last(options)
	return answer[PlanPage](ctx, c, Call{Method: "GET", Path: Path("/v1/plans"), Query: []Pair{{"queue", o.Queue}, {"station", o.Station}, {"state", o.State}, {"order", o.Order}, {"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// CreatePlanOptions are the options of CreatePlan. A field without a value is left out.
type CreatePlanOptions struct {
	// 1 to 255 ASCII characters; a repeat under the same key has no second effect
	IdempotencyKey string
}

// CreatePlan calls POST /v1/plans. Make a plan.
func (c *Client) CreatePlan(ctx context.Context, body NewPlan, options ...CreatePlanOptions) (*Plan, error) {
	o := last(options)
	return answer[Plan](ctx, c, Call{Method: "POST", Path: Path("/v1/plans"), Body: body, Headers: []Pair{{"Idempotency-Key", o.IdempotencyKey}}, IsKeyed: true})
}

// PreviewPlan calls POST /v1/plans/preview. Tell when a plan with such a rule would run. Nothing is stored.
func (c *Client) PreviewPlan(ctx context.Context, body Preview) (*TimePage, error) {
	return answer[TimePage](ctx, c, Call{Method: "POST", Path: Path("/v1/plans/preview"), Body: body})
}

// DeletePlan calls DELETE /v1/plans/{id}. Delete a plan. Its run that has not ended goes on, unheard.
func (c *Client) DeletePlan(ctx context.Context, id string) error {
	return c.None(ctx, Call{Method: "DELETE", Path: Path("/v1/plans/{id}", id)})
}

// GetPlan calls GET /v1/plans/{id}. Read a plan.
func (c *Client) GetPlan(ctx context.Context, id string) (*Plan, error) {
	return answer[Plan](ctx, c, Call{Method: "GET", Path: Path("/v1/plans/{id}", id)})
}

// PutPlanOptions are the options of PutPlan. A field without a value is left out.
type PutPlanOptions struct {
	// The ETag of a GET: change it only if nobody else has since
	IfMatch string
}

// PutPlan calls PUT /v1/plans/{id}. Make a plan under an id, or give the one there another rule; what it has
// counted stays.
func (c *Client) PutPlan(ctx context.Context, id string, body NewPlan, options ...PutPlanOptions) (*Plan, error) {
	o := last(options)
	return answer[Plan](ctx, c, Call{Method: "PUT", Path: Path("/v1/plans/{id}", id), Body: body, Headers: []Pair{{"If-Match", o.IfMatch}}})
}

// PlanOccurrencesOptions are the options of PlanOccurrences. A field without a value is left out.
type PlanOccurrencesOptions struct {
	// How many at most, 1 to 1000.
	N int
}

// PlanOccurrences calls GET /v1/plans/{id}/occurrences. Tell when a plan will run next, if every run ends in
// time.
func (c *Client) PlanOccurrences(ctx context.Context, id string, options ...PlanOccurrencesOptions) (*TimePage, error) {
	o := last(options)
	return answer[TimePage](ctx, c, Call{Method: "GET", Path: Path("/v1/plans/{id}/occurrences", id), Query: []Pair{{"n", o.N}}})
}

// PausePlan calls POST /v1/plans/{id}/pause. Set a plan aside. Its run that has not ended goes on, and counts.
func (c *Client) PausePlan(ctx context.Context, id string) (*Plan, error) {
	return answer[Plan](ctx, c, Call{Method: "POST", Path: Path("/v1/plans/{id}/pause", id)})
}

// PlanResultsOptions are the options of PlanResults. A field without a value is left out.
type PlanResultsOptions struct {
	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// PlanResults calls GET /v1/plans/{id}/results. List what is kept of a plan's runs, the newest first.
func (c *Client) PlanResults(ctx context.Context, id string, options ...PlanResultsOptions) (*PlanResultPage, error) {
	o := last(options)
	return answer[PlanResultPage](ctx, c, Call{Method: "GET", Path: Path("/v1/plans/{id}/results", id), Query: []Pair{{"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// ResumePlan calls POST /v1/plans/{id}/resume. Let a plan go on that was paused, or that stopped because a run
// failed for good.
func (c *Client) ResumePlan(ctx context.Context, id string) (*Plan, error) {
	return answer[Plan](ctx, c, Call{Method: "POST", Path: Path("/v1/plans/{id}/resume", id)})
}

// RunPlan calls POST /v1/plans/{id}/run. Run a plan now, besides its rule. The run is not counted.
func (c *Client) RunPlan(ctx context.Context, id string) (*Plan, error) {
	return answer[Plan](ctx, c, Call{Method: "POST", Path: Path("/v1/plans/{id}/run", id), IsOnce: true})
}

// SkipPlan calls POST /v1/plans/{id}/skip. Pass over the next occurrences of a plan.
func (c *Client) SkipPlan(ctx context.Context, id string, body Skip) (*Plan, error) {
	return answer[Plan](ctx, c, Call{Method: "POST", Path: Path("/v1/plans/{id}/skip", id), Body: body, IsOnce: true})
}

// ListQueuesOptions are the options of ListQueues. A field without a value is left out.
type ListQueuesOptions struct {
	// Only those with this tag.
	Tag string

	// Only those of this mode.
	Mode Mode

	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// ListQueues calls GET /v1/queues. List queues, by name.
func (c *Client) ListQueues(ctx context.Context, options ...ListQueuesOptions) (*QueuePage, error) {
	o := last(options)
	return answer[QueuePage](ctx, c, Call{Method: "GET", Path: Path("/v1/queues"), Query: []Pair{{"tag", o.Tag}, {"mode", o.Mode}, {"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// DeleteQueue calls DELETE /v1/queues/{queue}. Delete a queue and all it holds.
func (c *Client) DeleteQueue(ctx context.Context, queue string) error {
	return c.None(ctx, Call{Method: "DELETE", Path: Path("/v1/queues/{queue}", queue)})
}

// GetQueue calls GET /v1/queues/{queue}. Read a queue: its settings, and what it holds.
func (c *Client) GetQueue(ctx context.Context, queue string) (*Queue, error) {
	return answer[Queue](ctx, c, Call{Method: "GET", Path: Path("/v1/queues/{queue}", queue)})
}

// PutQueueOptions are the options of PutQueue. A field without a value is left out.
type PutQueueOptions struct {
	// The ETag of a GET: change it only if nobody else has since
	IfMatch string
}

// PutQueue calls PUT /v1/queues/{queue}. Create a queue, or change its settings.
func (c *Client) PutQueue(ctx context.Context, queue string, body Settings, options ...PutQueueOptions) (*Queue, error) {
	o := last(options)
	return answer[Queue](ctx, c, Call{Method: "PUT", Path: Path("/v1/queues/{queue}", queue), Body: body, Headers: []Pair{{"If-Match", o.IfMatch}}})
}

// ListBundlesOptions are the options of ListBundles. A field without a value is left out.
type ListBundlesOptions struct {
	// Only those in this state.
	State string

	// Only those whose key begins so.
	Key string

	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// ListBundles calls GET /v1/queues/{queue}/bundles. List bundles, by key.
func (c *Client) ListBundles(ctx context.Context, queue string, options ...ListBundlesOptions) (*BundlePage, error) {
	o := last(options)
	return answer[BundlePage](ctx, c, Call{Method: "GET", Path: Path("/v1/queues/{queue}/bundles", queue), Query: []Pair{{"state", o.State}, {"key", o.Key}, {"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// ScheduleBundle calls POST /v1/queues/{queue}/bundles/schedule. Ask for a bundle that is due. It is marked as
// started, and nobody else is told of it for a while.
func (c *Client) ScheduleBundle(ctx context.Context, queue string, body BundleSchedule) (*BundleScheduled, error) {
	return answer[BundleScheduled](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/bundles/schedule", queue), Body: body})
}

// DeleteBundle calls DELETE /v1/queues/{queue}/bundles/{key}. Remove a bundle and all that is in it.
func (c *Client) DeleteBundle(ctx context.Context, queue, key string) error {
	return c.None(ctx, Call{Method: "DELETE", Path: Path("/v1/queues/{queue}/bundles/{key}", queue, key)})
}

// ReadBundle calls GET /v1/queues/{queue}/bundles/{key}. Read a bundle and its first payloads.
func (c *Client) ReadBundle(ctx context.Context, queue, key string) (*Bundle, error) {
	return answer[Bundle](ctx, c, Call{Method: "GET", Path: Path("/v1/queues/{queue}/bundles/{key}", queue, key)})
}

// CompleteBundle calls POST /v1/queues/{queue}/bundles/{key}/complete. The first payloads are done: they go, and
// the lock with them.
func (c *Client) CompleteBundle(ctx context.Context, queue, key string, body BundleComplete) (*BundleCompleted, error) {
	return answer[BundleCompleted](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/bundles/{key}/complete", queue, key), Body: body})
}

// ChangeData calls POST /v1/queues/{queue}/bundles/{key}/data. Add strings to those kept with a bundle, and take
// others away.
func (c *Client) ChangeData(ctx context.Context, queue, key string, body BundleData) (*Bundle, error) {
	return answer[Bundle](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/bundles/{key}/data", queue, key), Body: body})
}

// GetBundle calls POST /v1/queues/{queue}/bundles/{key}/get. Lock a bundle and get its first payloads, due or
// not.
func (c *Client) GetBundle(ctx context.Context, queue, key string, body BundleGet) (*BundleGot, error) {
	return answer[BundleGot](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/bundles/{key}/get", queue, key), Body: body})
}

// PushBundleOptions are the options of PushBundle. A field without a value is left out.
type PushBundleOptions struct {
	// 1 to 255 ASCII characters; a repeat under the same key has no second effect
	IdempotencyKey string
}

// PushBundle calls POST /v1/queues/{queue}/bundles/{key}/push. Push a payload into a bundle.
func (c *Client) PushBundle(ctx context.Context, queue, key string, body BundlePush, options ...PushBundleOptions) (*BundlePushed, error) {
	o := last(options)
	return answer[BundlePushed](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/bundles/{key}/push", queue, key), Body: body, Headers: []Pair{{"Idempotency-Key", o.IdempotencyKey}}, IsKeyed: true})
}

// ReleaseBundle calls POST /v1/queues/{queue}/bundles/{key}/release. Give a bundle back without having dealt
// with it.
func (c *Client) ReleaseBundle(ctx context.Context, queue, key string, body BundleRelease) (*BundleReleased, error) {
	return answer[BundleReleased](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/bundles/{key}/release", queue, key), Body: body})
}

// RetryBundle calls POST /v1/queues/{queue}/bundles/{key}/retry. Have a bundle dealt with now that failed, or
// that waits for its time or its next attempt.
func (c *Client) RetryBundle(ctx context.Context, queue, key string) (*Bundle, error) {
	return answer[Bundle](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/bundles/{key}/retry", queue, key)})
}

// CommitMany calls POST /v1/queues/{queue}/commit. Say that tasks are done.
func (c *Client) CommitMany(ctx context.Context, queue string, body CommitItemBatch) (*Results, error) {
	return answer[Results](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/commit", queue), Body: body})
}

// ExtendMany calls POST /v1/queues/{queue}/extend. Hold tasks longer, and report.
func (c *Client) ExtendMany(ctx context.Context, queue string, body ExtendItemBatch) (*Results, error) {
	return answer[Results](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/extend", queue), Body: body})
}

// FailMany calls POST /v1/queues/{queue}/fail. Say that attempts failed.
func (c *Client) FailMany(ctx context.Context, queue string, body FailItemBatch) (*Results, error) {
	return answer[Results](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/fail", queue), Body: body})
}

// PauseQueue calls POST /v1/queues/{queue}/pause. Hand out nothing until resumed. Pushes still work.
func (c *Client) PauseQueue(ctx context.Context, queue string) (*Queue, error) {
	return answer[Queue](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/pause", queue)})
}

// ReleaseMany calls POST /v1/queues/{queue}/release. Give tasks back; the takes do not count.
func (c *Client) ReleaseMany(ctx context.Context, queue string, body ReleaseItemBatch) (*Results, error) {
	return answer[Results](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/release", queue), Body: body})
}

// ResetQueue calls POST /v1/queues/{queue}/reset. Drop all tasks of a queue; its settings stay.
func (c *Client) ResetQueue(ctx context.Context, queue string) (*Queue, error) {
	return answer[Queue](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/reset", queue)})
}

// ResumeQueue calls POST /v1/queues/{queue}/resume. Hand out tasks again.
func (c *Client) ResumeQueue(ctx context.Context, queue string) (*Queue, error) {
	return answer[Queue](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/resume", queue)})
}

// ScaleQueue calls GET /v1/queues/{queue}/scale. Say how many workers a queue has and needs, as this server has
// seen lately.
func (c *Client) ScaleQueue(ctx context.Context, queue string) (*Scale, error) {
	return answer[Scale](ctx, c, Call{Method: "GET", Path: Path("/v1/queues/{queue}/scale", queue)})
}

// Take calls POST /v1/queues/{queue}/take. Take tasks.
func (c *Client) Take(ctx context.Context, queue string, body Take) (*Taken, error) {
	return answer[Taken](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/take", queue), Body: body})
}

// ListTasksOptions are the options of ListTasks. A field without a value is left out.
type ListTasksOptions struct {
	// Only these states, separated by commas, listed in this order. Left out: what is held first, then what is
	// ready, waiting, paused, and what has ended.
	State string

	// Only those with this tag.
	Tag string

	// Only those whose id begins so.
	ID string

	// Only those that this worker holds, or held when they ended.
	Worker string

	// Only those whose error contains this.
	Error string

	// Only those whose payload contains this.
	Q string

	// Only those that finished, or last failed, at this time or later.
	Since When

	// How much of each payload to show: all of it; `payload_preview`, the first 200 characters of its JSON text; or
	// nothing.
	Payload any

	// Lists finished tasks by when they ended, whatever their state, after all others.
	Sort string

	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// ListTasks calls GET /v1/queues/{queue}/tasks. List tasks. `state=ready` lists them in the order in which they
// are handed out.
func (c *Client) ListTasks(ctx context.Context, queue string, options ...ListTasksOptions) (*TaskPage, error) {
	o := last(options)
	return answer[TaskPage](ctx, c, Call{Method: "GET", Path: Path("/v1/queues/{queue}/tasks", queue), Query: []Pair{{"state", o.State}, {"tag", o.Tag}, {"id", o.ID}, {"worker", o.Worker}, {"error", o.Error}, {"q", o.Q}, {"since", o.Since}, {"payload", o.Payload}, {"sort", o.Sort}, {"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// PushTaskOptions are the options of PushTask. A field without a value is left out.
type PushTaskOptions struct {
	// How long to wait for the task's end, at most 60 seconds; not at all if left out. Not for a batch.
	Wait Duration

	// 1 to 255 ASCII characters; a repeat under the same key has no second effect
	IdempotencyKey string

	// The span it is pushed in, as W3C Trace Context says; what follows from the task carries it on
	Traceparent string
}

// PushTask calls POST /v1/queues/{queue}/tasks. Push one task, or many.
func (c *Client) PushTask(ctx context.Context, queue string, body NewTask, options ...PushTaskOptions) (*TaskOrGone, error) {
	o := last(options)
	return answer[TaskOrGone](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks", queue), Body: body, Query: []Pair{{"wait", o.Wait}}, Headers: []Pair{{"Idempotency-Key", o.IdempotencyKey}, {"traceparent", o.Traceparent}}, IsKeyed: true})
}

// BulkTasks calls POST /v1/queues/{queue}/tasks/bulk. Do the same to all tasks that match, at most 1000 per
// call.
func (c *Client) BulkTasks(ctx context.Context, queue string, body Bulk) (*Bulked, error) {
	return answer[Bulked](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/bulk", queue), Body: body})
}

// DeleteTask calls DELETE /v1/queues/{queue}/tasks/{id}. Remove a task, whatever its state.
func (c *Client) DeleteTask(ctx context.Context, queue, id string) error {
	return c.None(ctx, Call{Method: "DELETE", Path: Path("/v1/queues/{queue}/tasks/{id}", queue, id)})
}

// GetTaskOptions are the options of GetTask. A field without a value is left out.
type GetTaskOptions struct {
	// How long to wait for its end, at most 60 seconds; not at all if left out.
	Wait Duration
}

// GetTask calls GET /v1/queues/{queue}/tasks/{id}. Read a task, now or when it has ended.
func (c *Client) GetTask(ctx context.Context, queue, id string, options ...GetTaskOptions) (*TaskOrGone, error) {
	o := last(options)
	return answer[TaskOrGone](ctx, c, Call{Method: "GET", Path: Path("/v1/queues/{queue}/tasks/{id}", queue, id), Query: []Pair{{"wait", o.Wait}}})
}

// EditTaskOptions are the options of EditTask. A field without a value is left out.
type EditTaskOptions struct {
	// The ETag of a GET: change it only if nobody else has since
	IfMatch string
}

// EditTask calls PATCH /v1/queues/{queue}/tasks/{id}. Change what was pushed, while nobody has taken it.
func (c *Client) EditTask(ctx context.Context, queue, id string, body Edit, options ...EditTaskOptions) (*Task, error) {
	o := last(options)
	return answer[Task](ctx, c, Call{Method: "PATCH", Path: Path("/v1/queues/{queue}/tasks/{id}", queue, id), Body: body, Headers: []Pair{{"If-Match", o.IfMatch}}})
}

// AssignTask calls POST /v1/queues/{queue}/tasks/{id}/assign. Assign a ready task of a dispatch queue to a
// worker, which has to confirm it.
func (c *Client) AssignTask(ctx context.Context, queue, id string, body Assign) (*Task, error) {
	return answer[Task](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/assign", queue, id), Body: body})
}

// CancelTask calls POST /v1/queues/{queue}/tasks/{id}/cancel. Cancel a task.
func (c *Client) CancelTask(ctx context.Context, queue, id string) (*Task, error) {
	return answer[Task](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/cancel", queue, id)})
}

// Cancelled calls POST /v1/queues/{queue}/tasks/{id}/cancelled. Acknowledge a cancel.
func (c *Client) Cancelled(ctx context.Context, queue, id string, body Acknowledgement) (*TaskOrGone, error) {
	return answer[TaskOrGone](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/cancelled", queue, id), Body: body})
}

// Commit calls POST /v1/queues/{queue}/tasks/{id}/commit. Say that a task is done.
func (c *Client) Commit(ctx context.Context, queue, id string, body Commit) (*TaskOrGone, error) {
	return answer[TaskOrGone](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/commit", queue, id), Body: body})
}

// Confirm calls POST /v1/queues/{queue}/tasks/{id}/confirm. Confirm an assignment: the task is `running` and its
// hold begins.
func (c *Client) Confirm(ctx context.Context, queue, id string, body Confirm) (*TaskOrGone, error) {
	return answer[TaskOrGone](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/confirm", queue, id), Body: body})
}

// Extend calls POST /v1/queues/{queue}/tasks/{id}/extend. Hold a task longer, and report. Also how a holder
// hears of cancel and pause.
func (c *Client) Extend(ctx context.Context, queue, id string, body Extend) (*Extended, error) {
	return answer[Extended](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/extend", queue, id), Body: body})
}

// Fail calls POST /v1/queues/{queue}/tasks/{id}/fail. Say that an attempt failed: the task waits for its retry,
// or is `failed`.
func (c *Client) Fail(ctx context.Context, queue, id string, body Fail) (*TaskOrGone, error) {
	return answer[TaskOrGone](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/fail", queue, id), Body: body})
}

// PauseTask calls POST /v1/queues/{queue}/tasks/{id}/pause. Set a task aside.
func (c *Client) PauseTask(ctx context.Context, queue, id string) (*Task, error) {
	return answer[Task](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/pause", queue, id)})
}

// Paused calls POST /v1/queues/{queue}/tasks/{id}/paused. Acknowledge a pause.
func (c *Client) Paused(ctx context.Context, queue, id string, body Acknowledgement) (*TaskOrGone, error) {
	return answer[TaskOrGone](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/paused", queue, id), Body: body})
}

// Release calls POST /v1/queues/{queue}/tasks/{id}/release. Give a task back; the take does not count.
func (c *Client) Release(ctx context.Context, queue, id string, body Release) (*TaskOrGone, error) {
	return answer[TaskOrGone](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/release", queue, id), Body: body})
}

// ResetTask calls POST /v1/queues/{queue}/tasks/{id}/reset. Make a task like new: attempts, progress, checkpoint
// and history are cleared.
func (c *Client) ResetTask(ctx context.Context, queue, id string) (*Task, error) {
	return answer[Task](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/reset", queue, id)})
}

// ResumeTask calls POST /v1/queues/{queue}/tasks/{id}/resume. Let a paused task go on, from its checkpoint.
func (c *Client) ResumeTask(ctx context.Context, queue, id string) (*Task, error) {
	return answer[Task](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/resume", queue, id)})
}

// RetryTask calls POST /v1/queues/{queue}/tasks/{id}/retry. Try a task again now that has failed or waits for
// its retry.
func (c *Client) RetryTask(ctx context.Context, queue, id string, body RetryNow) (*Task, error) {
	return answer[Task](ctx, c, Call{Method: "POST", Path: Path("/v1/queues/{queue}/tasks/{id}/retry", queue, id), Body: body})
}

// Why calls GET /v1/queues/{queue}/tasks/{id}/why. Say why a task is not running now.
func (c *Client) Why(ctx context.Context, queue, id string) (*Why, error) {
	return answer[Why](ctx, c, Call{Method: "GET", Path: Path("/v1/queues/{queue}/tasks/{id}/why", queue, id)})
}

// StatsOptions are the options of Stats. A field without a value is left out.
type StatsOptions struct {
	// Only what happened in this queue.
	Queue string
}

// Stats calls GET /v1/stats. Count what happened in the last hour.
func (c *Client) Stats(ctx context.Context, options ...StatsOptions) (*Stats, error) {
	o := last(options)
	return answer[Stats](ctx, c, Call{Method: "GET", Path: Path("/v1/stats"), Query: []Pair{{"queue", o.Queue}}})
}

// QueueStats calls GET /v1/stats/queues. Count what happened in the last hour in each queue, for sparklines.
func (c *Client) QueueStats(ctx context.Context) (*AllQueueStats, error) {
	return answer[AllQueueStats](ctx, c, Call{Method: "GET", Path: Path("/v1/stats/queues")})
}

// Totals calls GET /v1/stats/totals. Count what all queues hold together.
func (c *Client) Totals(ctx context.Context) (*Totals, error) {
	return answer[Totals](ctx, c, Call{Method: "GET", Path: Path("/v1/stats/totals")})
}

// GetSystem calls GET /v1/system. Read how the server, its store and the servers beside it are.
func (c *Client) GetSystem(ctx context.Context) (*System, error) {
	return answer[System](ctx, c, Call{Method: "GET", Path: Path("/v1/system")})
}

// GetAuditOptions are the options of GetAudit. A field without a value is left out.
type GetAuditOptions struct {
	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// GetAudit calls GET /v1/system/audit. Read what was done to queues and to the server, the newest first.
func (c *Client) GetAudit(ctx context.Context, options ...GetAuditOptions) (*AuditedPage, error) {
	o := last(options)
	return answer[AuditedPage](ctx, c, Call{Method: "GET", Path: Path("/v1/system/audit"), Query: []Pair{{"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// GetConfig calls GET /v1/system/config. Read the settings that hold, and where each comes from. Secrets read as
// `***`.
func (c *Client) GetConfig(ctx context.Context) (*Config, error) {
	return answer[Config](ctx, c, Call{Method: "GET", Path: Path("/v1/system/config")})
}

// GetTokens calls GET /v1/system/tokens. List the access tokens of the settings: what each is good for, not what
// it is.
func (c *Client) GetTokens(ctx context.Context) (*Tokens, error) {
	return answer[Tokens](ctx, c, Call{Method: "GET", Path: Path("/v1/system/tokens")})
}

// ListTokensOptions are the options of ListTokens. A field without a value is left out.
type ListTokensOptions struct {
	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// ListTokens calls GET /v1/tokens. List the access tokens that were made at run time, by name.
func (c *Client) ListTokens(ctx context.Context, options ...ListTokensOptions) (*AccessTokenPage, error) {
	o := last(options)
	return answer[AccessTokenPage](ctx, c, Call{Method: "GET", Path: Path("/v1/tokens"), Query: []Pair{{"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// CreateToken calls POST /v1/tokens. Make an access token.
func (c *Client) CreateToken(ctx context.Context, body NewAccessToken) (*MadeAccessToken, error) {
	return answer[MadeAccessToken](ctx, c, Call{Method: "POST", Path: Path("/v1/tokens"), Body: body})
}

// DeleteToken calls DELETE /v1/tokens/{name}. Revoke an access token.
func (c *Client) DeleteToken(ctx context.Context, name string) error {
	return c.None(ctx, Call{Method: "DELETE", Path: Path("/v1/tokens/{name}", name)})
}

// GetToken calls GET /v1/tokens/{name}. Read an access token: what it is good for and how much it was used, not
// what it is.
func (c *Client) GetToken(ctx context.Context, name string) (*AccessToken, error) {
	return answer[AccessToken](ctx, c, Call{Method: "GET", Path: Path("/v1/tokens/{name}", name)})
}

// ListWorkersOptions are the options of ListWorkers. A field without a value is left out.
type ListWorkersOptions struct {
	// Only those that serve this queue.
	Queue string

	// Only those in these states, separated by commas.
	State string

	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// ListWorkers calls GET /v1/workers. List workers, by name.
func (c *Client) ListWorkers(ctx context.Context, options ...ListWorkersOptions) (*WorkerPage, error) {
	o := last(options)
	return answer[WorkerPage](ctx, c, Call{Method: "GET", Path: Path("/v1/workers"), Query: []Pair{{"queue", o.Queue}, {"state", o.State}, {"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// DeleteWorker calls DELETE /v1/workers/{worker}. Leave: what the worker held is ready for others at once, and
// those takes do not count.
func (c *Client) DeleteWorker(ctx context.Context, worker string) error {
	return c.None(ctx, Call{Method: "DELETE", Path: Path("/v1/workers/{worker}", worker)})
}

// GetWorker calls GET /v1/workers/{worker}. Read a worker.
func (c *Client) GetWorker(ctx context.Context, worker string) (*Worker, error) {
	return answer[Worker](ctx, c, Call{Method: "GET", Path: Path("/v1/workers/{worker}", worker)})
}

// PutWorker calls PUT /v1/workers/{worker}. Join as a worker, or change what was said then.
func (c *Client) PutWorker(ctx context.Context, worker string, body Join) (*Worker, error) {
	return answer[Worker](ctx, c, Call{Method: "PUT", Path: Path("/v1/workers/{worker}", worker), Body: body})
}

// DrainWorker calls POST /v1/workers/{worker}/drain. Give a worker no more tasks; it finishes what it has.
func (c *Client) DrainWorker(ctx context.Context, worker string) (*Worker, error) {
	return answer[Worker](ctx, c, Call{Method: "POST", Path: Path("/v1/workers/{worker}/drain", worker)})
}

// PollWorker calls POST /v1/workers/{worker}/poll. Hear what is new: tasks to confirm, and what is to be
// stopped. It is also the heartbeat.
func (c *Client) PollWorker(ctx context.Context, worker string, body Poll) (*Orders, error) {
	return answer[Orders](ctx, c, Call{Method: "POST", Path: Path("/v1/workers/{worker}/poll", worker), Body: body})
}

// ListHoldingsOptions are the options of ListHoldings. A field without a value is left out.
type ListHoldingsOptions struct {
	// Most items on the page, 1 to 1000.
	Limit int

	// The `next` of the page before.
	Cursor string
}

// ListHoldings calls GET /v1/workers/{worker}/tasks. List what a worker has: tasks it was given and has not
// settled, and those it has yet to vote on.
func (c *Client) ListHoldings(ctx context.Context, worker string, options ...ListHoldingsOptions) (*TaskPage, error) {
	o := last(options)
	return answer[TaskPage](ctx, c, Call{Method: "GET", Path: Path("/v1/workers/{worker}/tasks", worker), Query: []Pair{{"limit", o.Limit}, {"cursor", o.Cursor}}})
}

// DeleteMergedOptions are the options of DeleteMerged. A field without a value is left out.
type DeleteMergedOptions struct {
	// `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays.
	Update string

	// When it is due, in Unix seconds or RFC 3339; now if left out.
	Ontime string

	// It is due no later than that long after its first payload.
	MaxWait string
}

// DeleteMerged calls DELETE /v3/queue/{merge_key}/{method}/{service}. Remove all payloads that wait under a
// merge key, method and service.
func (c *Client) DeleteMerged(ctx context.Context, mergeKey, method, service string, options ...DeleteMergedOptions) error {
	o := last(options)
	return c.None(ctx, Call{Method: "DELETE", Path: Path("/v3/queue/{merge_key}/{method}/{service}", mergeKey, method, service), Query: []Pair{{"update", o.Update}, {"ontime", o.Ontime}, {"max_wait", o.MaxWait}}})
}

// PushMergedOptions are the options of PushMerged. A field without a value is left out.
type PushMergedOptions struct {
	// `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays.
	Update string

	// When it is due, in Unix seconds or RFC 3339; now if left out.
	Ontime string

	// It is due no later than that long after its first payload.
	MaxWait string

	// 1 to 255 ASCII characters; a repeat under the same key has no second effect
	IdempotencyKey string
}

// PushMerged calls POST /v3/queue/{merge_key}/{method}/{service}. Push a payload that is delivered with all
// others under the same merge key, method and service.
func (c *Client) PushMerged(ctx context.Context, mergeKey, method, service string, payload any, options ...PushMergedOptions) (*BundlePushed, error) {
	o := last(options)
	return answer[BundlePushed](ctx, c, Call{Method: "POST", Path: Path("/v3/queue/{merge_key}/{method}/{service}", mergeKey, method, service), Body: payload, Query: []Pair{{"update", o.Update}, {"ontime", o.Ontime}, {"max_wait", o.MaxWait}}, Headers: []Pair{{"Idempotency-Key", o.IdempotencyKey}}, IsKeyed: true})
}
