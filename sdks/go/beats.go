package punctual

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"punctual.dev/punctual-go/api"
)

const (
	// Not more than the server takes in a batch; the rest is due at once.
	batchMax = 1_000
	// Lines that come within that time go together.
	gatherLines = 200 * time.Millisecond
)

// beats keeps holds, sends reports, and hears of cancel and pause: one batch per queue.
type beats struct {
	client *api.Client
	jobs   func() []*job
	warn   func(string)
	waking chan struct{}
	over   chan struct{}
}

func newBeats(client *api.Client, jobs func() []*job, warn func(string)) *beats {
	return &beats{client: client, jobs: jobs, warn: warn, waking: make(chan struct{}, 1), over: make(chan struct{})}
}

// wake says that there is something new to send, or another task.
func (b *beats) wake() {
	select {
	case b.waking <- struct{}{}:
	default:
	}
}

func (b *beats) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := time.Hour
		for _, it := range b.jobs() {
			if due, isBeating := it.dueAt(); isBeating && time.Until(due) < wait {
				wait = time.Until(due)
			}
		}
		if wait <= 0 {
			b.beatAll()
			continue
		}
		timer.Reset(wait)
		select {
		case <-b.over:
			return
		case <-b.waking:
		case <-timer.C:
		}
	}
}

func (b *beats) beatAll() {
	now := time.Now()
	queues := map[string]bool{}
	beating := map[string][]*job{}
	for _, it := range b.jobs() {
		due, isBeating := it.dueAt()
		// Heartbeats that fall due within a quarter of their interval go along with those that are due.
		if isBeating && !due.Add(-it.interval()/4).After(now) {
			beating[it.queue] = append(beating[it.queue], it)
			queues[it.queue] = queues[it.queue] || !due.After(now)
		}
	}
	var all sync.WaitGroup
	for queue, isDue := range queues {
		if isDue {
			all.Add(1)
			go func(queue string, jobs []*job) {
				defer all.Done()
				b.beat(queue, jobs)
			}(queue, beating[queue])
		}
	}
	all.Wait()
}

func (b *beats) beat(queue string, jobs []*job) {
	if len(jobs) > batchMax {
		jobs = jobs[:batchMax]
	}
	sentAt := time.Now()
	reports, items := make([]report, len(jobs)), make([]json.RawMessage, len(jobs))
	for index, it := range jobs {
		said := it.send()
		reports[index] = said
		items[index] = encoded(struct {
			ID         string          `json:"id"`
			Token      string          `json:"token"`
			Progress   *float64        `json:"progress,omitempty"`
			Message    *string         `json:"message,omitempty"`
			Checkpoint json.RawMessage `json:"checkpoint,omitempty"`
		}{it.id, it.token, said.progress, said.message, said.checkpoint})
	}
	call := api.Call{Method: "POST", Path: api.Path("/v1/queues/{queue}/extend", queue), Body: batchOf(items)}
	results, err := batch(context.Background(), b.client, call, len(items))
	for index, it := range jobs {
		if err != nil {
			b.missed(it, reports[index], err)
		} else {
			b.heard(it, reports[index], results[index], sentAt)
		}
		it.sent()
	}
}

func (b *beats) heard(it *job, said report, result api.Result, sentAt time.Time) {
	switch {
	case result.Ok:
		it.renew(sentAt)
		if result.Cancel != nil && *result.Cancel {
			it.tell(Cancelled)
		} else if result.Pause != nil && *result.Pause {
			it.tell(Paused)
		}
	case result.Code == "stale_token" || result.Code == "not_found" || result.Code == "wrong_state":
		it.lose()
	case !said.isEmpty():
		// The report is at fault, a checkpoint over the limit perhaps: the hold is kept without it.
		b.warn("task " + it.id + " of " + it.queue + ": a report was refused: " + result.Detail)
		it.beatAt(time.Now())
	default:
		it.beatAt(sentAt.Add(it.interval() / 3))
	}
}

func (b *beats) missed(it *job, said report, err error) {
	it.mu.Lock()
	isOver := !time.Now().Before(it.heldUntil)
	it.mu.Unlock()
	if !api.IsPassing(err) || isOver {
		it.lose()
		return
	}
	it.putBack(said)
	pause := api.Pause(0, err, pauseMax)
	if least := it.interval() / 3; pause < least {
		pause = least
	}
	it.beatAt(time.Now().Add(pause))
}

func (j *job) beatAt(at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.nextBeat, j.reportedAt = at, time.Now()
}

// logs sends log lines as they come; they may be lost, tasks never wait for them.
type logs struct {
	client  *api.Client
	mu      sync.Mutex
	sending map[*job]bool
	// A server has answered once; one from before there were logs is not asked again.
	isKnown, isOff bool
	all            sync.WaitGroup
}

func (l *logs) wake(it *job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isOff {
		it.takeLines()
		return
	}
	if !l.sending[it] {
		l.sending[it] = true
		l.all.Add(1)
		go l.send(it)
	}
}

func (l *logs) send(it *job) {
	defer l.all.Done()
	time.Sleep(gatherLines)
	for {
		l.mu.Lock()
		lines := it.takeLines()
		if len(lines) == 0 {
			delete(l.sending, it)
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		path := api.Path("/v1/queues/{queue}/tasks/{id}/log", it.queue, it.id)
		err := l.client.None(context.Background(), api.Call{Method: "POST", Path: path, Body: map[string]any{"token": it.token, "lines": lines}})
		refused, isRefused := err.(*Error)
		l.mu.Lock()
		if isRefused && !l.isKnown && (refused.Status == 404 || refused.Status == 405) {
			l.isOff = true
		}
		l.isKnown = l.isKnown || err == nil
		l.mu.Unlock()
	}
}
