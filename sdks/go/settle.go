package punctual

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"punctual.dev/punctual-go/api"
)

const pauseMax = 5 * time.Second

type verb string

const (
	commit  verb = "commit"
	fail    verb = "fail"
	release verb = "release"
)

// settled is a job and its outcome, as JSON.
type settled struct {
	job  *job
	item json.RawMessage
}

// settler brings the outcomes of one queue's tasks to the server.
//
// Commits ride on the next take. While a take is open, or there is none, they go in a batch: one request is under way
// per queue, and all that comes meanwhile goes together in the next.
type settler struct {
	client *api.Client
	queue  string
	warn   func(string)
	all    sync.WaitGroup

	mu      sync.Mutex
	waiting map[verb][]settled
	// A take is about to leave and will carry the commits.
	hasCarrier bool
	isSending  bool
}

func newSettler(client *api.Client, queue string, warn func(string)) *settler {
	return &settler{client: client, queue: queue, warn: warn, waiting: map[verb][]settled{}}
}

// add takes over an outcome, until the server has it or refuses it for good.
func (s *settler) add(it *job, end outcome) {
	if carrying := it.underWay(); carrying != nil && end.kind != done {
		// A checkpoint must not come after the outcome: it would be lost.
		s.alone(func() {
			<-carrying
			s.settle(it, end)
		})
		return
	}
	s.settle(it, end)
}

func (s *settler) settle(it *job, end outcome) {
	reason, said := it.stopReason(), it.unsent()
	token := json.RawMessage(encoded(it.token))
	switch {
	case reason == Lost:
		s.warn(fmt.Sprintf("task %s of %s: its hold was lost, the outcome is dropped", it.id, it.queue))
	case end.kind == failed && (reason == Cancelled || reason == Paused):
		members := map[string]any{"token": token}
		if !end.isStop {
			members["error"] = end.message
		}
		s.alone(func() { s.untilKnown(it, string(reason), with(members, "checkpoint", said.checkpoint)) })
	case end.kind == done:
		s.put(commit, it, with(map[string]any{"id": it.id, "token": token}, "result", end.result))
	case end.kind == released || reason == Stopping:
		members := map[string]any{"id": it.id, "token": token}
		if end.delay != "" {
			members["delay"] = end.delay
		}
		s.put(release, it, with(members, "checkpoint", said.checkpoint))
	case said.checkpoint != nil:
		s.alone(func() {
			if s.untilKnown(it, "extend", with(map[string]any{"token": token}, "checkpoint", said.checkpoint)) {
				s.put(fail, it, failItem(it, end))
			}
		})
	default:
		s.put(fail, it, failItem(it, end))
	}
}

// carry says whether a take is about to leave. Without one, waiting commits go by themselves.
func (s *settler) carry(isCarried bool) {
	s.mu.Lock()
	s.hasCarrier = isCarried
	s.mu.Unlock()
	s.wake()
}

// takeCommits hands over what a take carries; putBack returns what the server did not answer.
func (s *settler) takeCommits() []settled {
	s.mu.Lock()
	items := s.portion(commit)
	s.hasCarrier = false
	s.mu.Unlock()
	s.wake()
	return items
}

func (s *settler) putBack(items []settled) {
	s.mu.Lock()
	s.waiting[commit] = append(items, s.waiting[commit]...)
	s.mu.Unlock()
	s.wake()
}

func (s *settler) put(verb verb, it *job, item json.RawMessage) {
	s.mu.Lock()
	s.waiting[verb] = append(s.waiting[verb], settled{it, item})
	s.mu.Unlock()
	s.wake()
}

// portion takes the first items of a verb, as many as go into one request. The lock is held.
func (s *settler) portion(verb verb) []settled {
	items := s.waiting[verb]
	number := portion(len(items), func(index int) int { return len(items[index].item) })
	s.waiting[verb] = append([]settled{}, items[number:]...)
	return items[:number:number]
}

func (s *settler) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isSending && s.next() != "" {
		s.isSending = true
		s.alone(s.send)
	}
}

// next returns the verb to send next; "" if there is none. The lock is held.
func (s *settler) next() verb {
	for _, verb := range []verb{commit, fail, release} {
		if len(s.waiting[verb]) > 0 && !(verb == commit && s.hasCarrier) {
			return verb
		}
	}
	return ""
}

func (s *settler) alone(work func()) {
	s.all.Add(1)
	go func() {
		defer s.all.Done()
		work()
	}()
}

func (s *settler) send() {
	for failures := 0; ; {
		s.mu.Lock()
		verb := s.next()
		if verb == "" {
			s.isSending = false
			s.mu.Unlock()
			return
		}
		items := s.portion(verb)
		s.mu.Unlock()
		path := api.Path("/v1/queues/{queue}/"+string(verb), s.queue)
		call := api.Call{Method: "POST", Path: path, Body: batchOf(textsOf(items))}
		results, err := batch(context.Background(), s.client, call, len(items))
		switch {
		case err == nil:
			failures = 0
			s.answered(verb, items, results)
		case !api.IsPassing(err):
			s.refused(items, err)
		default:
			held := s.stillHeld(items)
			s.mu.Lock()
			s.waiting[verb] = append(held, s.waiting[verb]...)
			s.mu.Unlock()
			time.Sleep(api.Pause(failures, err, pauseMax))
			failures++
		}
	}
}

// stillHeld returns the items that may still count: an outcome is sent for the length of a hold after the last heartbeat.
func (s *settler) stillHeld(items []settled) []settled {
	var held []settled
	for _, it := range items {
		if it.job.isLate() {
			s.refused([]settled{it}, fmt.Errorf("the server was away for longer than the hold"))
		} else {
			held = append(held, it)
		}
	}
	return held
}

func (s *settler) answered(verb verb, items []settled, results []api.Result) {
	for index, it := range items {
		if index >= len(results) || results[index].Ok {
			continue
		}
		switch result := results[index]; {
		case result.Code == "unavailable":
			s.put(verb, it.job, it.item)
		case verb == commit && (result.Code == "too_large" || result.Code == "invalid"):
			// The server will never take this result: the task has failed.
			s.put(fail, it.job, failItem(it.job, outcome{message: "the result was refused: " + result.Detail, permanent: true}))
		default:
			s.refused([]settled{it}, api.ErrorOfItem(result))
		}
	}
}

func (s *settler) refused(items []settled, err error) {
	for _, it := range items {
		s.warn(fmt.Sprintf("task %s of %s was not settled, another worker gets it: %v", it.job.id, it.job.queue, err))
	}
}

func (s *settler) untilKnown(it *job, verb string, body json.RawMessage) bool {
	path := api.Path("/v1/queues/{queue}/tasks/{id}/"+verb, it.queue, it.id)
	for failures := 0; ; failures++ {
		err := s.client.None(context.Background(), api.Call{Method: "POST", Path: path, Body: body})
		if err == nil {
			return true
		}
		if !api.IsPassing(err) {
			s.refused([]settled{{it, body}}, err)
			return false
		}
		if len(s.stillHeld([]settled{{it, body}})) == 0 {
			return false
		}
		time.Sleep(api.Pause(failures, err, pauseMax))
	}
}

func failItem(it *job, end outcome) json.RawMessage {
	members := map[string]any{"id": it.id, "token": it.token, "error": end.message}
	if end.retryIn != "" {
		members["retry_in"] = end.retryIn
	}
	if end.permanent {
		members["permanent"] = true
	}
	return encoded(members)
}

func textsOf(items []settled) []json.RawMessage {
	texts := make([]json.RawMessage, len(items))
	for index, it := range items {
		texts[index] = it.item
	}
	return texts
}

// with returns members as JSON, and one more that is JSON already, if it is any.
func with(members map[string]any, name string, value json.RawMessage) json.RawMessage {
	if value != nil {
		members[name] = value
	}
	return encoded(members)
}

// encoded writes values that always are JSON.
func encoded(value any) json.RawMessage {
	text, err := api.Encode(value)
	if err != nil {
		panic("plain members are JSON: " + err.Error())
	}
	return text
}
