package punctual

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"regexp"
	"sync"
	"syscall"
	"time"

	"punctual.dev/punctual-go/api"
)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]`)

// HandlerFunc carries out a task. Its value is the task's result; an error fails the task. The context ends when the
// handler should stop: task.StopReason says why.
type HandlerFunc func(ctx context.Context, task *Task) (any, error)

// AppOptions are those of a worker; the zero value will do.
type AppOptions struct {
	Options
	// Name of the worker among those of its queues; made up if left out.
	Name string
	// Capabilities of the worker, for queues of mode dispatch.
	Capabilities []string
	// Grace is how long handlers have after a stop; 30 seconds if left out.
	Grace time.Duration
	// Warn is called with warnings; they go to the package log if left out.
	Warn func(string)
}

// HandlerOptions are those of one queue.
type HandlerOptions struct {
	// Concurrency is how many tasks are carried out at a time; 16 if left out.
	Concurrency int
	// Prefetch is how many further tasks are taken ahead.
	Prefetch int
}

// App is a program's worker: handlers per queue, and Run until a signal comes.
type App struct {
	options  AppOptions
	client   *Client
	handlers []*handler
	err      error

	mu     sync.Mutex
	worker *worker
	ended  chan struct{}
	result error
}

// New returns a worker without handlers. Run reports options that are wrong.
func New(options ...AppOptions) *App {
	app := &App{}
	if len(options) > 0 {
		app.options = options[0]
	}
	if app.options.Name == "" {
		host, _ := os.Hostname()
		host = notInNames.ReplaceAllString(host, "-")
		if len(host) > 80 {
			host = host[:80]
		}
		app.options.Name = fmt.Sprintf("%s-%d-%s", host, os.Getpid(), api.RandomText()[:6])
	}
	if app.options.Grace == 0 {
		app.options.Grace = 30 * time.Second
	}
	if app.options.Warn == nil {
		app.options.Warn = func(text string) { log.Print("punctual: ", text) }
	}
	app.client, app.err = NewClient(app.options.Options)
	return app
}

// Name returns the worker's name.
func (a *App) Name() string { return a.options.Name }

// Client returns a client of the same server, for pushes and everything else; nil if the server's URL is wrong.
func (a *App) Client() *Client { return a.client }

// Handle has a function carry out the tasks of a queue, whatever the queue's mode: pull, dispatch or vote.
func (a *App) Handle(queue string, run HandlerFunc, options ...HandlerOptions) {
	it := &handler{queue: queue, run: run, concurrency: 16}
	if len(options) > 0 {
		if options[0].Concurrency != 0 {
			it.concurrency = options[0].Concurrency
		}
		it.prefetch = options[0].Prefetch
	}
	if a.err == nil && (it.concurrency < 1 || it.prefetch < 0) {
		a.err = errors.New("concurrency is at least 1, prefetch at least 0")
	}
	for _, other := range a.handlers {
		if a.err == nil && other.queue == queue {
			a.err = fmt.Errorf("queue %s has a handler already", queue)
		}
	}
	a.handlers = append(a.handlers, it)
}

// Handle has a function with a typed payload carry out the tasks of a queue. A payload that does not fit fails the task
// for good.
func Handle[P, R any](app *App, queue string, run func(ctx context.Context, task *Task, payload P) (R, error), options ...HandlerOptions) {
	app.Handle(queue, func(ctx context.Context, task *Task) (any, error) {
		var payload P
		if err := task.Payload(&payload); err != nil {
			return nil, err
		}
		return run(ctx, task, payload)
	}, options...)
}

// Run works until the context ends, SIGINT or SIGTERM comes, then stops gracefully; a second signal gives tasks back at
// once. Its error is what makes going on impossible, such as a token without the right. A server that is away is waited
// for.
func (a *App) Run(ctx context.Context) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := a.Start(); err != nil {
		return err
	}
	for stops := 0; ; stops++ {
		select {
		case <-a.ended:
			return a.Join()
		case <-ctx.Done():
			ctx = context.Background()
			a.Stop()
		case <-signals:
			if a.Stop(); stops > 0 {
				a.Hurry()
			}
		}
	}
}

// Main is Run for programs that do nothing else: it ends the program with status 1 if it cannot go on.
func (a *App) Main() {
	if err := a.Run(context.Background()); err != nil {
		log.Fatal("punctual: ", err)
	}
}

// Start begins to work in the background.
func (a *App) Start() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.err != nil:
		return a.err
	case a.worker != nil:
		return errors.New("the worker was started already")
	case len(a.handlers) == 0:
		return errors.New("no handler: call app.Handle(queue, function)")
	}
	// It has its own way to wait for a server that is away.
	a.worker = newWorker(a.client.Impatient(), a.options, a.handlers)
	a.ended = make(chan struct{})
	go func() {
		defer close(a.ended)
		a.result = a.worker.run()
	}()
	return nil
}

// Stop takes nothing more and lets handlers finish. It does not wait: Join does.
func (a *App) Stop() {
	if w := a.started(); w != nil {
		w.stop()
	}
}

// Hurry stops too, and tells handlers to stop at once.
func (a *App) Hurry() {
	if w := a.started(); w != nil {
		w.stop()
		w.hurry()
	}
}

// Join waits until it has ended; its error is what ended it if that was no stop.
func (a *App) Join() error {
	if a.started() == nil {
		return a.err
	}
	<-a.ended
	return a.result
}

func (a *App) started() *worker {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.worker
}
