package punctual

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"punctual.dev/punctual-go/api"
)

const (
	// The least time between two heartbeats of one task, and the most.
	beatMin = 50 * time.Millisecond
	beatMax = 10 * time.Second
	// How often progress is reported at most.
	reportEvery = time.Second
	// A task whose hold is not told, such as a vote's, is held at least that long.
	holdUnknown = 10 * time.Second
	// The most that the server takes in one call, and in one line.
	logBytesMax  = 40_000
	lineBytesMax = 8_000
	// The server takes 4 KiB.
	errorBytesMax = 4_000
)

// report is what a handler said and the server has not heard.
type report struct {
	progress   *float64
	message    *string
	checkpoint json.RawMessage
}

func (r report) isEmpty() bool { return r.progress == nil && r.message == nil && r.checkpoint == nil }

// under returns this report with another, newer one over it.
func (r report) under(newer report) report {
	if newer.progress != nil {
		r.progress = newer.progress
	}
	if newer.message != nil {
		r.message = newer.message
	}
	if newer.checkpoint != nil {
		r.checkpoint = newer.checkpoint
	}
	return r
}

type outcomeKind int

const (
	done outcomeKind = iota
	failed
	released
)

// outcome is the end of a handler; a failure that a stop asked for acknowledges the stop.
type outcome struct {
	kind      outcomeKind
	result    json.RawMessage
	message   string
	retryIn   api.Duration
	permanent bool
	delay     api.Duration
	isStop    bool
}

// job is one task on its way: its hold, reports that have not been sent, and why it should stop.
type job struct {
	queue, id, token string
	ctx              context.Context
	cancel           context.CancelFunc
	wake             func()
	onLog            func(*job)

	mu         sync.Mutex
	record     api.Task
	hold, beat time.Duration
	heldUntil  time.Time
	nextBeat   time.Time
	reportedAt time.Time
	// Heartbeats begin with the hold and end with the handler.
	isBeating bool
	isRunning bool
	reason    StopReason
	reported  report
	lines     []string
	// Closed when the heartbeat under way, which carries a checkpoint, was answered; nil: there is none.
	carrying chan struct{}
}

func newJob(record api.Task, wake func(), onLog func(*job)) *job {
	it := &job{queue: record.Queue, id: record.ID, token: record.Token, record: record, wake: wake, onLog: onLog}
	it.ctx, it.cancel = context.WithCancel(context.Background())
	it.hold = holdOf(record)
	it.beat = clamp(it.hold/3, beatMin, beatMax)
	it.heldUntil, it.nextBeat = time.Now().Add(it.hold), time.Now().Add(it.beat)
	it.reportedAt = time.Now().Add(-reportEvery)
	return it
}

// tell tells the handler to stop. The first reason counts, but for the loss of the hold, which ends all.
func (j *job) tell(reason StopReason) {
	j.mu.Lock()
	if j.reason == "" || (reason == Lost && j.reason != Lost) {
		j.reason = reason
	}
	j.mu.Unlock()
	j.cancel()
}

func (j *job) stopReason() StopReason {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.reason
}

// lose ends its heartbeats: another may have the task.
func (j *job) lose() {
	j.tell(Lost)
	j.mu.Lock()
	j.isBeating = false
	j.mu.Unlock()
}

// renew notes that its hold was extended by a request that left at that time.
func (j *job) renew(sentAt time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.heldUntil, j.nextBeat = sentAt.Add(j.hold), sentAt.Add(j.beat)
}

// confirm notes that it is held from now on.
func (j *job) confirm(told api.Task) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if told.TakenAt != nil {
		j.record.TakenAt = told.TakenAt
	}
	if told.HoldUntil != nil {
		j.record.HoldUntil = told.HoldUntil
	}
	if told.State != "" {
		j.record.State = told.State
	}
	j.hold = holdOf(j.record)
	if j.beat > j.hold/3 {
		j.beat = j.hold / 3
	}
	j.heldUntil, j.nextBeat, j.isBeating = time.Now().Add(j.hold), time.Now().Add(j.beat), true
}

// dueAt returns when the server should hear of it next; false: it has no heartbeats.
func (j *job) dueAt() (time.Time, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	due := j.nextBeat
	if reportAt := j.reportedAt.Add(reportEvery); !j.reported.isEmpty() && reportAt.Before(due) {
		due = reportAt
	}
	return due, j.isBeating
}

// interval returns the time between two heartbeats.
func (j *job) interval() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.beat
}

func (j *job) report(said report) {
	j.mu.Lock()
	j.reported = j.reported.under(said)
	j.mu.Unlock()
	j.wake()
}

// unsent returns the reports since the last call.
func (j *job) unsent() report {
	j.mu.Lock()
	defer j.mu.Unlock()
	said := j.reported
	j.reported = report{}
	return said
}

// send returns the reports since the last call, for a heartbeat that leaves now.
func (j *job) send() report {
	said := j.unsent()
	j.mu.Lock()
	defer j.mu.Unlock()
	if !said.isEmpty() {
		j.reportedAt = time.Now()
	}
	if said.checkpoint != nil {
		j.carrying = make(chan struct{})
	}
	return said
}

// sent notes that a heartbeat was answered, or will not be.
func (j *job) sent() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.carrying != nil {
		close(j.carrying)
		j.carrying = nil
	}
}

// underWay returns a channel that closes when the checkpoint under way was heard of; nil: none is under way.
func (j *job) underWay() chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.carrying
}

// putBack keeps a report that could not be sent; later ones are newer.
func (j *job) putBack(said report) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reported = said.under(j.reported)
}

// isLate tells whether its outcome cannot count any more: a hold's length after the last heartbeat's.
func (j *job) isLate() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return time.Now().After(j.heldUntil.Add(j.hold))
}

func (j *job) log(line string) {
	j.mu.Lock()
	j.lines = append(j.lines, cut(line, lineBytesMax))
	isFirst := len(j.lines) == 1
	j.mu.Unlock()
	if isFirst {
		j.onLog(j)
	}
}

// takeLines returns lines for one call; the rest stays.
func (j *job) takeLines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	size, number := 0, 0
	for number < len(j.lines) && (number == 0 || size+len(j.lines[number]) <= logBytesMax) {
		size += len(j.lines[number])
		number++
	}
	lines := j.lines[:number]
	j.lines = j.lines[number:]
	return lines
}

// outcomeOf turns what a handler returned into an outcome. A value that is no JSON will not be one in the next attempt
// either.
func outcomeOf(value any, err error) outcome {
	var fail *Fail
	var release *Release
	var stopped *Stopped
	switch {
	case err == nil:
		result, wrong := api.Encode(value)
		if wrong != nil {
			return outcome{kind: failed, message: cut(fmt.Sprintf("the result is no JSON: %v", wrong), errorBytesMax), permanent: true}
		}
		return outcome{kind: done, result: result}
	case errors.As(err, &release):
		return outcome{kind: released, delay: release.Delay}
	case errors.As(err, &fail):
		return outcome{kind: failed, message: cut(err.Error(), errorBytesMax), retryIn: fail.RetryIn, permanent: fail.Permanent}
	}
	isStop := errors.As(err, &stopped) || errors.Is(err, context.Canceled)
	return outcome{kind: failed, message: cut(err.Error(), errorBytesMax), isStop: isStop}
}

func cut(text string, max int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= max {
		return text
	}
	for !utf8.RuneStart(text[max]) {
		max--
	}
	return text[:max]
}

// holdOf returns how long a task is held without a word.
func holdOf(record api.Task) time.Duration {
	if record.TakenAt == nil || record.HoldUntil == nil {
		return holdUnknown
	}
	if hold := record.HoldUntil.Sub(*record.TakenAt); hold > beatMin {
		return hold
	}
	return beatMin
}

func clamp(length, min, max time.Duration) time.Duration {
	if length < min {
		return min
	}
	if length > max {
		return max
	}
	return length
}
