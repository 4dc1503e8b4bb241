package punctual_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	punctual "punctual.dev/punctual-go"
	"punctual.dev/punctual-go/api"
	"punctual.dev/punctual-go/punctualtest"
)

// started makes a worker of the server with one handler per queue, and ends it with the test.
func started(t *testing.T, server *punctualtest.Server, options punctual.AppOptions, handlers map[string]punctual.HandlerFunc, places ...punctual.HandlerOptions) *punctual.App {
	t.Helper()
	options.URL = server.URL
	options.Warn = func(text string) { t.Log(text) }
	if options.Grace == 0 {
		options.Grace = 5 * time.Second
	}
	app := punctual.New(options)
	for queue, run := range handlers {
		app.Handle(queue, run, places...)
	}
	ok(t, 0, app.Start())
	t.Cleanup(func() {
		app.Hurry()
		_ = app.Join()
	})
	return app
}

func put(t *testing.T, server *punctualtest.Server, queue string, settings api.Settings) {
	t.Helper()
	settings.Keep = keep
	_, err := server.Client.PutQueue(ctx, queue, settings)
	ok(t, 0, err)
}

func push(t *testing.T, server *punctualtest.Server, queue string, payload any, task api.NewTask) {
	t.Helper()
	_, err := server.Client.Push(ctx, queue, payload, task)
	ok(t, 0, err)
}

func pushNumbers(t *testing.T, server *punctualtest.Server, number int) {
	t.Helper()
	tasks := make([]api.NewTask, number)
	for n := range tasks {
		tasks[n] = api.NewTask{ID: fmt.Sprintf("t%d", n), Payload: n}
	}
	_, err := server.Client.PushMany(ctx, "q", tasks)
	ok(t, 0, err)
}

func counts(t *testing.T, server *punctualtest.Server) api.Counts {
	t.Helper()
	queue, err := server.Client.GetQueue(ctx, "q")
	return ok(t, queue, err).Counts
}

func state(t *testing.T, server *punctualtest.Server, id string) api.State {
	t.Helper()
	task, err := server.Client.GetTask(ctx, "q", id)
	return ok(t, task, err).State
}

func TestResultsAndCommitsGather(t *testing.T) {
	server := punctualtest.Start(t)
	put(t, server, "q", api.Settings{})
	pushNumbers(t, server, 300)
	seen := &counted{}
	twice := func(_ context.Context, task *punctual.Task) (any, error) {
		var number int
		err := task.Payload(&number)
		return map[string]int{"twice": number * 2}, err
	}
	options := punctual.AppOptions{Options: punctual.Options{HTTP: &http.Client{Transport: seen}}}
	started(t, server, options, map[string]punctual.HandlerFunc{"q": twice})
	until(t, func() bool { return counts(t, server).Done == 300 })
	if task := waited(t, server.Client, "q", "t7"); string(task.Result) != `{"twice":14}` {
		t.Fatal(string(task.Result))
	}
	if number := seen.requests.Load(); number > 250 {
		t.Fatalf("%d requests for 300 tasks", number)
	}
}

func TestFailures(t *testing.T) {
	server := punctualtest.Start(t)
	put(t, server, "q", api.Settings{MaxAttempts: 3, Retry: &api.Retry{Intervals: []api.Duration{"0.01"}}})
	var given atomic.Int32
	handle := func(_ context.Context, task *punctual.Task) (any, error) {
		var kind string
		if err := task.Payload(&kind); err != nil {
			return nil, err
		}
		var checkpoint int
		hasCheckpoint, err := task.Checkpoint(&checkpoint)
		switch {
		case err != nil:
			return nil, err
		case kind == "again" && task.Attempt < 3:
			ok(t, 0, task.SaveCheckpoint(task.Attempt))
			return nil, errors.New("not yet")
		case kind == "never":
			return nil, fmt.Errorf("wrapped: %w", &punctual.Fail{Message: "no such address", Permanent: true})
		case kind == "later":
			return nil, &punctual.Fail{Message: "busy", RetryIn: "1h"}
		case kind == "given-back" && given.Add(1) == 1:
			return nil, &punctual.Release{}
		case kind == "panics":
			panic("at the disco")
		case kind == "no-json":
			return make(chan int), nil
		case kind == "too-large":
			return strings.Repeat("x", 1<<20), nil
		}
		return []any{task.Attempt, hasCheckpoint, checkpoint}, nil
	}
	started(t, server, punctual.AppOptions{}, map[string]punctual.HandlerFunc{"q": handle})
	for _, kind := range []string{"again", "never", "later", "given-back", "no-json", "too-large"} {
		push(t, server, "q", kind, api.NewTask{ID: kind})
	}
	push(t, server, "q", 7, api.NewTask{ID: "no-text"})
	push(t, server, "q", "panics", api.NewTask{ID: "panics", MaxAttempts: 1})
	for id, result := range map[string]string{"again": "[3,true,2]", "given-back": "[1,false,0]"} {
		if task := waited(t, server.Client, "q", id); string(task.Result) != result {
			t.Fatalf("%s: %s, %s", id, task.Result, task.Error)
		}
	}
	for id, text := range map[string]string{
		"never": "wrapped: no such address", "no-json": "no JSON", "too-large": "the result was refused",
		"no-text": "the payload does not fit", "panics": "panic: at the disco",
	} {
		task := waited(t, server.Client, "q", id)
		if task.State != api.StateFailed || task.Attempt != 1 || !strings.Contains(task.Error, text) {
			t.Fatalf("%s: %s after %d: %s", id, task.State, task.Attempt, task.Error)
		}
	}
	until(t, func() bool { return state(t, server, "later") == api.StateWaiting })
}

func TestCancelAndPause(t *testing.T) {
	server := punctualtest.Start(t)
	put(t, server, "q", api.Settings{Hold: "1s"})
	reasons := make(chan punctual.StopReason, 2)
	handle := func(ctx context.Context, task *punctual.Task) (any, error) {
		var page string
		if has, err := task.Checkpoint(&page); has || err != nil {
			return "went on from " + page, err
		}
		task.Progress(0.5, "half way")
		<-ctx.Done()
		reasons <- task.StopReason()
		ok(t, 0, task.SaveCheckpoint("page 7"))
		return nil, ctx.Err()
	}
	started(t, server, punctual.AppOptions{}, map[string]punctual.HandlerFunc{"q": handle})
	push(t, server, "q", 1, api.NewTask{ID: "cancelled"})
	until(t, func() bool {
		task, err := server.Client.GetTask(ctx, "q", "cancelled")
		return ok(t, task, err).Progress != nil && *task.Progress == 0.5 && task.Message == "half way"
	})
	_, err := server.Client.CancelTask(ctx, "q", "cancelled")
	ok(t, 0, err)
	if task := waited(t, server.Client, "q", "cancelled"); task.State != api.StateCancelled || <-reasons != punctual.Cancelled {
		t.Fatal(task.State)
	}
	push(t, server, "q", 1, api.NewTask{ID: "paused"})
	until(t, func() bool { return state(t, server, "paused") == api.StateRunning })
	_, err = server.Client.PauseTask(ctx, "q", "paused")
	ok(t, 0, err)
	until(t, func() bool { return state(t, server, "paused") == api.StatePaused })
	_, err = server.Client.ResumeTask(ctx, "q", "paused")
	ok(t, 0, err)
	if task := waited(t, server.Client, "q", "paused"); string(task.Result) != `"went on from page 7"` || <-reasons != punctual.Paused {
		t.Fatal(string(task.Result))
	}
}

func TestHolds(t *testing.T) {
	server := punctualtest.Start(t, punctualtest.Options{RealTime: true})
	put(t, server, "q", api.Settings{Hold: "0.5s"})
	told := make(chan punctual.StopReason, 1)
	handle := func(ctx context.Context, task *punctual.Task) (any, error) {
		if string(task.Record.Payload) == `"lose"` && task.Attempt == 1 {
			<-ctx.Done()
			told <- task.StopReason()
			return "nobody hears this", nil
		}
		// Three times its hold.
		api.Sleep(ctx, 1500*time.Millisecond)
		return "kept", task.Check()
	}
	started(t, server, punctual.AppOptions{}, map[string]punctual.HandlerFunc{"q": handle})
	push(t, server, "q", "keep", api.NewTask{ID: "kept"})
	if task := waited(t, server.Client, "q", "kept"); string(task.Result) != `"kept"` || task.Attempt != 1 {
		t.Fatalf("%s after %d", task.Result, task.Attempt)
	}
	push(t, server, "q", "lose", api.NewTask{ID: "lost"})
	until(t, func() bool { return state(t, server, "lost") == api.StateRunning })
	_, err := server.Client.RetryTask(ctx, "q", "lost", api.RetryNow{Force: true})
	ok(t, 0, err)
	if task := waited(t, server.Client, "q", "lost"); string(task.Result) != `"kept"` || task.Attempt != 2 || <-told != punctual.Lost {
		t.Fatalf("%s after %d", task.Result, task.Attempt)
	}
}

func TestDispatchAndVotes(t *testing.T) {
	server := punctualtest.Start(t)
	put(t, server, "render", api.Settings{Mode: api.ModeDispatch})
	put(t, server, "quorum", api.Settings{Mode: api.ModeVote})
	var apps []*punctual.App
	for _, name := range []string{"ada", "bob"} {
		name := name
		render := func(context.Context, *punctual.Task) (any, error) { return name, nil }
		vote := func(context.Context, *punctual.Task) (any, error) {
			if name == "bob" {
				return nil, &punctual.Fail{Message: "away"}
			}
			return "yes", nil
		}
		options := punctual.AppOptions{Name: name, Capabilities: []string{name}}
		apps = append(apps, started(t, server, options, map[string]punctual.HandlerFunc{"render": render, "quorum": vote}))
	}
	workers := func() int {
		page, err := server.Client.ListWorkers(ctx)
		return len(ok(t, page, err).Items)
	}
	until(t, func() bool { return workers() == 2 })
	push(t, server, "render", 1, api.NewTask{ID: "scene", Requires: []string{"bob"}})
	if task := waited(t, server.Client, "render", "scene"); string(task.Result) != `"bob"` {
		t.Fatal(string(task.Result))
	}
	push(t, server, "quorum", 1, api.NewTask{ID: "merge"})
	if task := waited(t, server.Client, "quorum", "merge"); string(task.Result) != `{"ada":"yes","bob":null}` {
		t.Fatal(string(task.Result))
	}
	for _, app := range apps {
		app.Stop()
		ok(t, 0, app.Join())
	}
	if workers() != 0 {
		t.Fatal("workers leave when they stop")
	}
}

func TestStop(t *testing.T) {
	server := punctualtest.Start(t)
	put(t, server, "q", api.Settings{Hold: "1h"})
	pushNumbers(t, server, 6)
	gate := make(chan struct{})
	handle := func(ctx context.Context, task *punctual.Task) (any, error) {
		<-gate
		if task.ID == "t0" {
			return "finished", nil
		}
		ok(t, 0, task.SaveCheckpoint("so far"))
		<-ctx.Done()
		return nil, task.Check()
	}
	options := punctual.AppOptions{Grace: 500 * time.Millisecond}
	places := punctual.HandlerOptions{Concurrency: 2, Prefetch: 2}
	app := started(t, server, options, map[string]punctual.HandlerFunc{"q": handle}, places)
	until(t, func() bool { return counts(t, server).Running == 4 })
	close(gate)
	until(t, func() bool { return counts(t, server).Done == 1 })
	began := time.Now()
	app.Stop()
	ok(t, 0, app.Join())
	if took := time.Since(began); took > 5*time.Second {
		t.Fatalf("an open take keeps no stop waiting: %v", took)
	}
	if it := counts(t, server); it.Done != 1 || it.Ready != 5 || it.Running != 0 {
		t.Fatalf("%+v", it)
	}
}

func TestWorkGoesOnOverAKill(t *testing.T) {
	server := punctualtest.Start(t, punctualtest.Options{Durable: true, RealTime: true})
	put(t, server, "q", api.Settings{Hold: "20s"})
	var mu sync.Mutex
	var begun []string
	gate := make(chan struct{})
	handle := func(_ context.Context, task *punctual.Task) (any, error) {
		mu.Lock()
		begun = append(begun, task.ID)
		mu.Unlock()
		<-gate
		return "over the crash", nil
	}
	started(t, server, punctual.AppOptions{}, map[string]punctual.HandlerFunc{"q": handle}, punctual.HandlerOptions{Concurrency: 4})
	pushNumbers(t, server, 8)
	until(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(begun) == 4
	})
	server.Kill()
	close(gate)
	server.Restart()
	until(t, func() bool { return counts(t, server).Done == 8 })
	sort.Strings(begun)
	if told := fmt.Sprint(begun); told != "[t0 t1 t2 t3 t4 t5 t6 t7]" {
		t.Fatalf("each is carried out once: %s", told)
	}
}

func TestARefusedWorkerEnds(t *testing.T) {
	server := punctualtest.Start(t)
	nothing := func(context.Context, *punctual.Task) (any, error) { return nil, nil }
	app := started(t, server, punctual.AppOptions{Name: "no name"}, map[string]punctual.HandlerFunc{"q": nothing})
	if err := app.Join(); api.CodeOf(err) != "invalid" {
		t.Fatal(err)
	}
	app = punctual.New(punctual.AppOptions{Options: punctual.Options{URL: server.URL}})
	if err := app.Run(ctx); err == nil || !strings.Contains(err.Error(), "no handler") {
		t.Fatal(err)
	}
	app.Handle("q", nothing)
	app.Handle("q", nothing)
	if err := app.Run(ctx); err == nil || !strings.Contains(err.Error(), "already") {
		t.Fatal(err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	server := punctualtest.Start(t)
	put(t, server, "q", api.Settings{})
	app := punctual.New(punctual.AppOptions{Options: punctual.Options{URL: server.URL}})
	ending, end := context.WithCancel(ctx)
	punctual.Handle(app, "q", func(_ context.Context, _ *punctual.Task, number int) (int, error) { return number + 1, nil })
	ended := make(chan error)
	go func() { ended <- app.Run(ending) }()
	push(t, server, "q", 41, api.NewTask{ID: "t"})
	if task := waited(t, server.Client, "q", "t"); string(task.Result) != "42" {
		t.Fatal(string(task.Result))
	}
	end()
	ok(t, 0, <-ended)
}
