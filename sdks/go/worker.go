package punctual

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"punctual.dev/punctual-go/api"
)

const (
	// How long a take or a poll waits for something to do. Well below the silence after which a worker is lost.
	waitFor = 15 * time.Second
	// A request that is older than this waits for something to do; a younger one may be about to be answered.
	answerIn = 500 * time.Millisecond
	// How long handlers have that were told to stop before their tasks are given back without them.
	lastWords   = 2 * time.Second
	takeMax     = 1_000
	capacityMax = 10_000
)

// handler is the function of a queue, with its places.
type handler struct {
	queue       string
	run         HandlerFunc
	concurrency int
	prefetch    int
	settler     *settler

	// Guarded by the worker's lock.
	running int
	// Taken or assigned, and waiting for a place.
	backlog []*job
}

func (h *handler) room() int {
	return h.concurrency + h.prefetch - h.running - len(h.backlog)
}

// worker is one run, from its start to its graceful end.
//
//	pull ──┐                          ┌── handler
//	       ├──▶ worker.accept ────────┤
//	given ─┘                          └── beats: extend, hear of cancel and pause
//	            worker.finished ──▶ settler: commits ride on the next take
type worker struct {
	client       *api.Client
	name         string
	capabilities []string
	grace        time.Duration
	handlers     []*handler
	warn         func(string)
	session      string
	beats        *beats
	logs         *logs

	// Ends when nothing more is to be taken, and when handlers have no more time.
	stopping, hurrying context.Context
	stop, hurry        context.CancelFunc

	mu   sync.Mutex
	jobs map[string]*job
	// Tokens of the last tasks that are over.
	ended []string
	// Closed and replaced when a place is free.
	change chan struct{}
}

func newWorker(client *api.Client, options AppOptions, handlers []*handler) *worker {
	w := &worker{
		client: client, name: options.Name, capabilities: options.Capabilities, grace: options.Grace,
		handlers: handlers, warn: options.Warn, session: api.RandomText(),
		jobs: map[string]*job{}, change: make(chan struct{}),
	}
	w.stopping, w.stop = context.WithCancel(context.Background())
	w.hurrying, w.hurry = context.WithCancel(context.Background())
	w.beats = newBeats(client, w.underWay, w.warn)
	w.logs = &logs{client: client, sending: map[*job]bool{}}
	for _, it := range handlers {
		it.settler = newSettler(client, it.queue, w.warn)
	}
	return w
}

// run works until stopped. An error means that it cannot go on; a server that is away is waited for.
func (w *worker) run() error {
	go w.beats.run()
	defer close(w.beats.over)
	var given []*handler
	var loops sync.WaitGroup
	ends := make(chan error, len(w.handlers)+2)
	start := func(loop func() error) {
		loops.Add(1)
		go func() {
			defer loops.Done()
			if err := loop(); err != nil {
				ends <- err
				w.stop()
				w.hurry()
			}
		}()
	}
	for _, it := range w.handlers {
		it := it
		switch mode, err := w.modeOf(it.queue); {
		case err != nil:
			start(func() error { return err })
		case mode == api.ModeDispatch || mode == api.ModeVote:
			given = append(given, it)
		case mode == api.ModePull:
			start(func() error { return w.pull(it) })
		case mode != "":
			w.warn(fmt.Sprintf("queue %s has mode %s: the server carries it out itself", it.queue, mode))
		}
	}
	if len(given) > 0 {
		start(func() error { return w.beGiven(given) })
	}
	<-w.stopping.Done()
	loops.Wait()
	w.finish()
	select {
	case err := <-ends:
		return err
	default:
	}
	if len(given) > 0 {
		_ = w.client.DeleteWorker(context.Background(), w.name) // The server can do without.
	}
	return nil
}

// modeOf reads a queue's mode; makes the queue if it does not exist; "": stopped meanwhile.
func (w *worker) modeOf(queue string) (api.Mode, error) {
	for failures := 0; w.stopping.Err() == nil; failures++ {
		told, err := w.client.GetQueue(w.stopping, queue)
		if err == nil {
			return told.Mode, nil
		}
		if api.CodeOf(err) == "not_found" {
			_, _ = w.client.PutQueue(w.stopping, queue, api.Settings{})
		} else if !api.IsPassing(err) && w.stopping.Err() == nil {
			return "", err
		}
		w.pause(failures, err)
	}
	return "", nil
}

// pause waits longer and longer while the server cannot be spoken to, but not beyond a stop.
func (w *worker) pause(failures int, err error) {
	if failures == 1 {
		w.warn(fmt.Sprintf("the server cannot be spoken to, it is tried again: %v", err))
	}
	api.Sleep(w.stopping, api.Pause(failures, err, pauseMax))
}

// pull takes tasks of a pull queue.
func (w *worker) pull(h *handler) error {
	defer h.settler.carry(false)
	for failures := 0; ; {
		h.settler.carry(true)
		room := w.untilRoom(h)
		if room < 1 {
			return nil
		}
		commits := h.settler.takeCommits()
		var told api.Taken
		isAnswered, err := w.asked(api.Call{
			Method: "POST", Path: api.Path("/v1/queues/{queue}/take", h.queue), Body: takeOf(w.name, room, commits), Wait: waitFor,
		}, &told)
		if err != nil || !isAnswered {
			h.settler.putBack(commits)
			if !isAnswered && err == nil {
				return nil
			}
			if !api.IsPassing(err) && api.CodeOf(err) != "not_found" {
				return err
			}
			w.pause(failures, err)
			failures++
			continue
		}
		failures = 0
		h.settler.answered(commit, commits, told.Committed)
		for _, record := range told.Tasks {
			w.accept(h, record)
		}
	}
}

func takeOf(worker string, room int, commits []settled) json.RawMessage {
	if room > takeMax {
		room = takeMax
	}
	members := map[string]any{"worker": worker, "n": room, "wait": waitFor.Seconds()}
	if len(commits) > 0 {
		var list bytes.Buffer
		writeList(&list, textsOf(commits))
		members["commit"] = json.RawMessage(list.Bytes())
	}
	return encoded(members)
}

// asked sends a request that waits; false if a stop came first. The server releases what it could not hand over.
func (w *worker) asked(call api.Call, into any) (bool, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	leftAt := time.Now()
	go func() {
		select {
		case <-w.stopping.Done():
			api.Sleep(ctx, time.Until(leftAt.Add(answerIn)))
			cancel()
		case <-ctx.Done():
		}
	}()
	err := w.client.JSON(ctx, call, into)
	if err != nil && ctx.Err() != nil {
		return false, nil
	}
	return err == nil, err
}

// beGiven hears of tasks of dispatch and vote queues.
func (w *worker) beGiven(handlers []*handler) error {
	served, queues, capacity := map[string]*handler{}, []string{}, 0
	for _, it := range handlers {
		served[it.queue] = it
		queues = append(queues, it.queue)
		capacity += it.concurrency
	}
	if capacity > capacityMax {
		capacity = capacityMax
	}
	hasJoined := false
	for failures := 0; w.stopping.Err() == nil; {
		var err error
		if !hasJoined {
			_, err = w.client.PutWorker(context.Background(), w.name, api.Join{
				Queues: queues, Capabilities: w.capabilities, Capacity: capacity, Session: w.session,
			})
			hasJoined = err == nil
		}
		var told api.Orders
		isAnswered := false
		if err == nil {
			path := api.Path("/v1/workers/{worker}/poll", w.name)
			body := encoded(map[string]any{"wait": waitFor.Seconds(), "session": w.session})
			isAnswered, err = w.asked(api.Call{Method: "POST", Path: path, Body: body, Wait: waitFor}, &told)
		}
		if err == nil {
			failures = 0
			if isAnswered {
				w.hear(served, told)
			}
			continue
		}
		code := api.CodeOf(err)
		if hasJoined && code == "not_found" {
			hasJoined = false // It was silent for too long, or somebody has removed it.
			continue
		}
		if code == "stale_token" {
			// Another has joined under this name, and has what this one held.
			for _, it := range w.underWay() {
				if served[it.queue] != nil {
					it.tell(Lost)
				}
			}
		}
		if !api.IsPassing(err) {
			return err
		}
		w.pause(failures, err)
		failures++
	}
	if hasJoined {
		_, _ = w.client.DrainWorker(context.Background(), w.name) // The server can do without.
	}
	return nil
}

func (w *worker) hear(served map[string]*handler, told api.Orders) {
	for _, record := range told.Assignments {
		if it := served[record.Queue]; it != nil {
			w.accept(it, record)
		}
	}
	tell := func(names []api.TaskName, reason StopReason) {
		for _, name := range names {
			for _, it := range w.underWay() {
				if it.queue == name.Queue && it.id == name.ID {
					it.tell(reason)
				}
			}
		}
	}
	tell(told.Cancel, Cancelled)
	tell(told.Pause, Paused)
}

func (w *worker) underWay() []*job {
	w.mu.Lock()
	defer w.mu.Unlock()
	jobs := make([]*job, 0, len(w.jobs))
	for _, it := range w.jobs {
		jobs = append(jobs, it)
	}
	return jobs
}

func (w *worker) accept(h *handler, record api.Task) {
	isAssigned := record.State == api.StateAssigned
	w.mu.Lock()
	defer w.mu.Unlock()
	// An assignment repeats until it is confirmed, and in a poll that was under way then.
	if w.jobs[record.Token] != nil || (isAssigned && w.hasEnded(record.Token)) {
		return
	}
	it := newJob(record, w.beats.wake, w.logs.wake)
	// Until it is confirmed nothing is held, and nothing is to be extended.
	it.isBeating = !isAssigned
	w.jobs[it.token] = it
	h.backlog = append(h.backlog, it)
	w.fill(h)
	w.beats.wake()
}

func (w *worker) hasEnded(token string) bool {
	for _, it := range w.ended {
		if it == token {
			return true
		}
	}
	return false
}

// fill starts what has a place. The lock is held.
func (w *worker) fill(h *handler) {
	for len(h.backlog) > 0 && h.running < h.concurrency && w.stopping.Err() == nil {
		it := h.backlog[0]
		h.backlog = h.backlog[1:]
		h.running++
		go w.start(h, it)
	}
}

func (w *worker) start(h *handler, it *job) {
	if it.record.State == api.StateAssigned && !w.confirm(h, it) {
		return
	}
	it.mu.Lock()
	it.isRunning = true
	record := it.record
	it.mu.Unlock()
	task := &Task{
		Record: record, Queue: it.queue, ID: it.id, Attempt: record.Attempt,
		ctx: it.ctx, job: it, checkpoint: record.Checkpoint,
	}
	w.finished(h, it, w.carriedOut(h, task))
	it.cancel()
}

// confirm confirms as late as possible: a worker that cannot start does not confirm, and another is asked.
func (w *worker) confirm(h *handler, it *job) bool {
	told, err := w.client.Confirm(context.Background(), it.queue, it.id, api.Confirm{Token: it.token})
	if err == nil {
		it.confirm(*told)
		w.beats.wake()
		return true
	}
	w.warn(fmt.Sprintf("task %s of %s was not confirmed: %v", it.id, it.queue, err))
	w.mu.Lock()
	delete(w.jobs, it.token)
	w.freed(h)
	w.mu.Unlock()
	return false
}

// carriedOut calls the handler. A panic fails the task, and its stack goes to the task's log.
func (w *worker) carriedOut(h *handler, task *Task) (end outcome) {
	defer func() {
		if panicked := recover(); panicked != nil {
			end = outcome{kind: failed, message: cut(fmt.Sprintf("panic: %v", panicked), errorBytesMax)}
			for _, line := range strings.Split(strings.TrimSpace(string(debug.Stack())), "\n") {
				task.job.log(line)
			}
		}
	}()
	return outcomeOf(h.run(task.ctx, task))
}

func (w *worker) finished(h *handler, it *job, end outcome) {
	w.mu.Lock()
	if w.jobs[it.token] != it {
		w.mu.Unlock()
		return // It was given back meanwhile.
	}
	delete(w.jobs, it.token)
	it.mu.Lock()
	it.isRunning, it.isBeating = false, false
	it.mu.Unlock()
	if w.ended = append(w.ended, it.token); len(w.ended) > 2_000 {
		w.ended = append([]string{}, w.ended[1_000:]...)
	}
	// The outcome is there before the next take leaves, which carries it.
	h.settler.add(it, end)
	w.freed(h)
	w.mu.Unlock()
}

// freed says that a place is free. The lock is held.
func (w *worker) freed(h *handler) {
	h.running--
	w.fill(h)
	close(w.change)
	w.change = make(chan struct{})
}

// untilRoom waits for a free place and returns how many there are; 0: stopped.
func (w *worker) untilRoom(h *handler) int {
	for w.stopping.Err() == nil {
		w.mu.Lock()
		room, change := h.room(), w.change
		w.mu.Unlock()
		if room > 0 {
			return room
		}
		select {
		case <-change:
		case <-w.stopping.Done():
		}
	}
	return 0
}

// finish lets handlers finish, and gives back what does not in time.
func (w *worker) finish() {
	w.mu.Lock()
	for _, h := range w.handlers {
		for _, it := range h.backlog {
			delete(w.jobs, it.token)
			if _, isBeating := it.dueAt(); isBeating {
				h.settler.add(it, outcome{kind: released})
			}
		}
		h.backlog = nil
	}
	w.mu.Unlock()
	w.empty(w.grace, w.hurrying)
	for _, it := range w.underWay() {
		it.tell(Stopping)
	}
	w.empty(lastWords, context.Background())
	for _, h := range w.handlers {
		for _, it := range w.underWay() {
			if it.queue == h.queue {
				w.finished(h, it, outcome{kind: failed, message: "the handler did not stop"})
			}
		}
	}
	isTold := within(w.grace+lastWords, func() {
		for _, h := range w.handlers {
			h.settler.all.Wait()
		}
	})
	if !isTold {
		w.warn("the outcomes of some tasks could not be told")
	}
	within(lastWords, w.logs.all.Wait)
}

// empty waits until no handler runs, for so long at most.
func (w *worker) empty(length time.Duration, unless context.Context) {
	ctx, cancel := context.WithTimeout(unless, length)
	defer cancel()
	for ctx.Err() == nil {
		w.mu.Lock()
		number, change := len(w.jobs), w.change
		w.mu.Unlock()
		if number == 0 {
			return
		}
		select {
		case <-change:
		case <-ctx.Done():
		}
	}
}

// within waits for work to end; false if it takes longer.
func within(length time.Duration, work func()) bool {
	ended := make(chan struct{})
	go func() {
		work()
		close(ended)
	}()
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}
