package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"punctual.dev/punctual-go"
	"punctual.dev/punctual-go/api"
)

// order is a command of the story; each has some of these members.
type order struct {
	Do           string            `json:"do"`
	Queue        string            `json:"queue"`
	Queues       []string          `json:"queues"`
	ID           string            `json:"id"`
	IDs          []string          `json:"ids"`
	Name         string            `json:"name"`
	Key          string            `json:"key"`
	Token        string            `json:"token"`
	Payload      any               `json:"payload"`
	Options      json.RawMessage   `json:"options"`
	Settings     api.Settings      `json:"settings"`
	Tasks        []api.NewTask     `json:"tasks"`
	Prefix       string            `json:"prefix"`
	Count        int               `json:"count"`
	Result       any               `json:"result"`
	Force        bool              `json:"force"`
	Type         string            `json:"type"`
	Concurrency  int               `json:"concurrency"`
	Capabilities []string          `json:"capabilities"`
	Flow         api.NewFlow       `json:"flow"`
	Plan         api.NewPlan       `json:"plan"`
	Rule         api.Preview       `json:"rule"`
	Bundle       api.BundlePush    `json:"bundle"`
	Notice       api.Message       `json:"notice"`
	Random       string            `json:"random"`
	Number       int               `json:"number"`
	Body         string            `json:"body"`
	Headers      map[string]string `json:"headers"`
	Secret       string            `json:"secret"`
	Now          string            `json:"now"`
}

// options reads the options of a command into the type of its request.
func options[T any](o order) (into T, err error) {
	if len(o.Options) > 0 {
		err = json.Unmarshal(o.Options, &into)
	}
	return into, err
}

type pushed struct {
	Queue string `json:"queue"`
	ID    string `json:"id"`
}

func push(client *punctual.Client, o order) (any, error) {
	task, err := options[api.NewTask](o)
	if err != nil {
		return nil, err
	}
	id, err := client.Push(ctx, o.Queue, o.Payload, task)
	return pushed{o.Queue, id}, err
}

func pushTogether(o order) (any, error) {
	told := make([]string, len(o.IDs))
	var all sync.WaitGroup
	for index, id := range o.IDs {
		all.Add(1)
		go func(index int, id string) {
			defer all.Done()
			var err error
			if told[index], err = client.Push(ctx, o.Queue, 1, api.NewTask{ID: id}); err != nil {
				told[index] = api.CodeOf(err)
			}
		}(index, id)
	}
	all.Wait()
	return told, nil
}

func pushNumbers(o order) (any, error) {
	tasks := make([]api.NewTask, o.Count)
	for n := range tasks {
		tasks[n] = api.NewTask{ID: fmt.Sprintf("%s%d", o.Prefix, n), Payload: map[string]any{"do": "return", "value": n}}
	}
	results, err := client.PushMany(ctx, o.Queue, tasks)
	return len(results), err
}

type answer struct {
	value any
	err   error
}

var later = make(chan answer, 1)

func pushLater(o order) (any, error) {
	go func() {
		value, err := push(client, o)
		later <- answer{value, err}
	}()
	return nil, nil
}

func pushedLater(order) (any, error) {
	told := <-later
	return told.value, told.err
}

func waitFor(o order) (any, error) {
	limited, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	return client.WaitFor(limited, o.Queue, o.ID)
}

func verify(o order) (any, error) {
	seconds, err := strconv.ParseInt(o.Now, 10, 64)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, value := range o.Headers {
		header.Set(name, value)
	}
	return punctual.Verifier{Secrets: []string{o.Secret}, Now: time.Unix(seconds, 0)}.Verify([]byte(o.Body), header)
}

// told makes a command of a call with the same answer.
func told[T any](call func(order) (T, error)) func(order) (any, error) {
	return func(o order) (any, error) { return call(o) }
}

// asked makes a command of a call whose request is the command's options.
func asked[B, T any](call func(order, B) (T, error)) func(order) (any, error) {
	return func(o order) (any, error) {
		body, err := options[B](o)
		if err != nil {
			return nil, err
		}
		return call(o, body)
	}
}

var commands = map[string]func(order) (any, error){
	"put_queue":      told(func(o order) (*api.Queue, error) { return client.PutQueue(ctx, o.Queue, o.Settings) }),
	"get_queue":      told(func(o order) (*api.Queue, error) { return client.GetQueue(ctx, o.Queue) }),
	"pause_queue":    told(func(o order) (*api.Queue, error) { return client.PauseQueue(ctx, o.Queue) }),
	"resume_queue":   told(func(o order) (*api.Queue, error) { return client.ResumeQueue(ctx, o.Queue) }),
	"push":           func(o order) (any, error) { return push(client, o) },
	"push_impatient": func(o order) (any, error) { return push(impatient, o) },
	"push_later":     pushLater,
	"pushed_later":   pushedLater,
	"push_many":      told(func(o order) ([]api.Result, error) { return client.PushMany(ctx, o.Queue, o.Tasks) }),
	"push_together":  pushTogether,
	"push_numbers":   pushNumbers,
	"get_task":       told(func(o order) (*api.Task, error) { return client.GetTask(ctx, o.Queue, o.ID) }),
	"delete_task":    func(o order) (any, error) { return nil, client.DeleteTask(ctx, o.Queue, o.ID) },
	"wait_for":       waitFor,
	"take": asked(func(o order, body api.Take) ([]api.Task, error) {
		taken, err := client.Take(ctx, o.Queue, body)
		if err != nil {
			return nil, err
		}
		return taken.Tasks, nil
	}),
	"extend": asked(func(o order, body api.Extend) (*api.Extended, error) {
		body.Token = o.Token
		return client.Extend(ctx, o.Queue, o.ID, body)
	}),
	"commit": told(func(o order) (*api.TaskOrGone, error) {
		return client.Commit(ctx, o.Queue, o.ID, api.Commit{Token: o.Token, Result: o.Result})
	}),
	"fail": asked(func(o order, body api.Fail) (*api.TaskOrGone, error) {
		body.Token = o.Token
		return client.Fail(ctx, o.Queue, o.ID, body)
	}),
	"retry_task": told(func(o order) (*api.Task, error) {
		return client.RetryTask(ctx, o.Queue, o.ID, api.RetryNow{Force: o.Force})
	}),
	"cancel_task":  told(func(o order) (*api.Task, error) { return client.CancelTask(ctx, o.Queue, o.ID) }),
	"pause_task":   told(func(o order) (*api.Task, error) { return client.PauseTask(ctx, o.Queue, o.ID) }),
	"resume_task":  told(func(o order) (*api.Task, error) { return client.ResumeTask(ctx, o.Queue, o.ID) }),
	"events_start": listen,
	"events_heard": func(order) (any, error) { return heard.all(), nil },
	"worker_start": startWorker,
	"worker_stop":  stopWorker,
	"stops":        func(order) (any, error) { return stops.all(), nil },
	"open_gate":    func(order) (any, error) { close(gate); return nil, nil },
	"list_workers": func(order) (any, error) {
		page, err := client.ListWorkers(ctx)
		names := []string{}
		if err == nil {
			for _, it := range page.Items {
				names = append(names, it.Name)
			}
		}
		return names, err
	},
	"create_flow": told(func(o order) (*api.Flow, error) { return client.CreateFlow(ctx, o.Flow) }),
	"get_flow":    told(func(o order) (*api.Flow, error) { return client.GetFlow(ctx, o.ID) }),
	"create_plan": told(func(o order) (*api.Plan, error) { return client.CreatePlan(ctx, o.Plan) }),
	"preview_plan": func(o order) (any, error) {
		page, err := client.PreviewPlan(ctx, o.Rule)
		if err != nil {
			return nil, err
		}
		return page.Items, nil
	},
	"get_plan": told(func(o order) (*api.Plan, error) { return client.GetPlan(ctx, o.ID) }),
	"plan_results": func(o order) (any, error) {
		page, err := client.PlanResults(ctx, o.ID)
		if err != nil {
			return nil, err
		}
		return page.Items, nil
	},
	"push_bundle": told(func(o order) (*api.BundlePushed, error) {
		return client.PushBundle(ctx, o.Queue, o.Key, o.Bundle)
	}),
	"schedule_bundle": told(func(o order) (*api.BundleScheduled, error) {
		return client.ScheduleBundle(ctx, o.Queue, api.BundleSchedule{Wait: "5s"})
	}),
	"get_bundle": told(func(o order) (*api.BundleGot, error) {
		return client.GetBundle(ctx, o.Queue, o.Key, api.BundleGet{Random: o.Random})
	}),
	"complete_bundle": told(func(o order) (*api.BundleCompleted, error) {
		return client.CompleteBundle(ctx, o.Queue, o.Key, api.BundleComplete{Random: o.Random, Number: o.Number})
	}),
	"push_notice": told(func(o order) (*api.Notice, error) { return client.PushNotice(ctx, o.Notice) }),
	"get_notice":  told(func(o order) (*api.Notice, error) { return client.GetNotice(ctx, o.ID) }),
	"verify":      verify,
}
