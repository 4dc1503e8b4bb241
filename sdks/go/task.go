package punctual

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"punctual.dev/punctual-go/api"
)

// StopReason says why a handler should stop.
type StopReason string

const (
	// Cancelled: somebody has cancelled the task.
	Cancelled StopReason = "cancelled"
	// Paused: somebody has paused the task.
	Paused StopReason = "paused"
	// Lost: another worker may have the task by now.
	Lost StopReason = "lost"
	// Stopping: the program ends.
	Stopping StopReason = "stopping"
)

// Fail is returned by a handler: the task failed.
type Fail struct {
	Message string
	// RetryIn replaces the queue's own wait: "5m", or api.In(5*time.Minute).
	RetryIn api.Duration
	// Permanent: no retry.
	Permanent bool
	Cause     error
}

func (e *Fail) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Fail) Unwrap() error { return e.Cause }

// Release is returned by a handler: the task is given back, and this attempt does not count.
type Release struct {
	// Delay until it may be taken again; none if left out.
	Delay api.Duration
}

func (e *Release) Error() string { return "given back" }

// Stopped is returned by Check, and by a handler that gives in.
type Stopped struct{ Reason StopReason }

func (e *Stopped) Error() string { return string(e.Reason) }

// Task is a task to carry out, and a line to the server while that lasts.
type Task struct {
	// Record is the task as the server handed it out.
	Record api.Task
	// Queue, ID and Attempt are those of the record.
	Queue   string
	ID      string
	Attempt int

	ctx        context.Context
	job        *job
	mu         sync.Mutex
	checkpoint json.RawMessage
}

// Payload reads the payload. One that does not fit fails the task for good if the handler returns the error.
func (t *Task) Payload(into any) error {
	if err := json.Unmarshal(t.Record.Payload, into); err != nil {
		return &Fail{Message: fmt.Sprintf("the payload does not fit: %v", err), Permanent: true, Cause: err}
	}
	return nil
}

// Checkpoint reads the checkpoint of an earlier attempt, or the one saved by this attempt; false if there is none.
func (t *Task) Checkpoint(into any) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.checkpoint) == 0 || string(t.checkpoint) == "null" {
		return false, nil
	}
	return true, json.Unmarshal(t.checkpoint, into)
}

// SaveCheckpoint leaves what the next attempt needs to go on. It is sent within a second, or with the outcome.
func (t *Task) SaveCheckpoint(checkpoint any) error {
	text, err := api.Encode(checkpoint)
	if err != nil {
		return fmt.Errorf("the checkpoint is no JSON: %w", err)
	}
	t.mu.Lock()
	t.checkpoint = text
	t.mu.Unlock()
	t.job.report(report{checkpoint: text})
	return nil
}

// Progress says how far it is, from 0 to 1, and a word on where. It is sent at most once a second.
func (t *Task) Progress(progress float64, message ...string) {
	progress = math.Min(math.Max(progress, 0), 1)
	said := report{progress: &progress}
	if len(message) > 0 {
		said.message = &message[0]
	}
	t.job.report(said)
}

// Log adds a line to the task's log.
func (t *Task) Log(format string, values ...any) {
	t.job.log(fmt.Sprintf(format, values...))
}

// StopReason returns why the handler should stop; "": it should not. The handler's context ends at the same time.
func (t *Task) StopReason() StopReason { return t.job.stopReason() }

// Check returns an error if the handler should stop; the acknowledgement of the stop follows from the reason.
func (t *Task) Check() error {
	if reason := t.job.stopReason(); reason != "" {
		return &Stopped{reason}
	}
	return nil
}
