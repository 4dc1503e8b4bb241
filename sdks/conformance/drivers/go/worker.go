package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"punctual.dev/punctual-go"
)

// list is a list that several goroutines write.
type list struct {
	mu    sync.Mutex
	items []string
}

func (l *list) add(item string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, item)
}

func (l *list) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.items...)
}

var (
	apps  = map[string]*punctual.App{}
	stops list
	heard list
	gate  = make(chan struct{})
)

// job is what a task's payload says its handler should do.
type job struct {
	Do        string         `json:"do"`
	Value     any            `json:"value"`
	Inputs    any            `json:"inputs"`
	Error     string         `json:"error"`
	Permanent bool           `json:"permanent"`
	Votes     map[string]any `json:"votes"`
	Seconds   float64        `json:"seconds"`
}

func handler(name string) func(context.Context, *punctual.Task, job) (any, error) {
	return func(ctx context.Context, task *punctual.Task, it job) (any, error) {
		var checkpoint any
		hasCheckpoint, err := task.Checkpoint(&checkpoint)
		if err != nil {
			return nil, err
		}
		switch it.Do {
		case "return":
			return it.Value, nil
		case "name":
			return name, nil
		case "inputs":
			return it.Inputs, nil
		case "fail":
			return nil, &punctual.Fail{Message: it.Error, Permanent: it.Permanent}
		case "throw":
			return nil, errors.New("thrown")
		case "vote":
			if vote, has := it.Votes[name]; has {
				return vote, nil
			}
			return nil, &punctual.Fail{Message: "no opinion"}
		case "sleep":
			time.Sleep(time.Duration(it.Seconds * float64(time.Second)))
			return "slept", nil
		case "gate":
			<-gate
			return "gate", nil
		case "fail_twice":
			if task.Attempt < 3 {
				if err := task.SaveCheckpoint(task.Attempt); err != nil {
					return nil, err
				}
				return nil, errors.New("not yet")
			}
			return fmt.Sprintf("checkpoint %v", checkpoint), nil
		}
		if hasCheckpoint {
			return fmt.Sprintf("checkpoint %v", checkpoint), nil
		}
		task.Progress(0.25, "waiting")
		<-ctx.Done()
		stops.add(fmt.Sprintf("%s %s", task.ID, task.StopReason()))
		if err := task.SaveCheckpoint("so far"); err != nil {
			return nil, err
		}
		return nil, task.Check()
	}
}

func startWorker(o order) (any, error) {
	app := punctual.New(punctual.AppOptions{Name: o.Name, Capabilities: o.Capabilities, Grace: 300 * time.Millisecond})
	for _, queue := range o.Queues {
		punctual.Handle(app, queue, handler(o.Name), punctual.HandlerOptions{Concurrency: o.Concurrency})
	}
	apps[o.Name] = app
	return nil, app.Start()
}

func stopWorker(o order) (any, error) {
	apps[o.Name].Stop()
	return nil, apps[o.Name].Join()
}

func listen(o order) (any, error) {
	listener, err := punctual.NewClient()
	if err != nil {
		return nil, err
	}
	go func() {
		_ = listener.Events(ctx, punctual.EventOptions{Queue: o.Queue, Type: o.Type}, func(event punctual.Event) error {
			var data struct {
				ID  string   `json:"id"`
				IDs []string `json:"ids"`
			}
			if err := json.Unmarshal(event.Data, &data); err != nil {
				return err
			}
			if len(data.IDs) == 0 {
				data.IDs = []string{data.ID}
			}
			for _, id := range data.IDs {
				heard.add(event.Type + " " + id)
			}
			return nil
		})
	}()
	return nil, nil
}
