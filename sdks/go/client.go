package punctual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"punctual.dev/punctual-go/api"
)

const (
	// One request carries at most so many tasks and bytes. The server takes more; this keeps each answer quick.
	itemsMax = 1_000
	bytesMax = 4 << 20
)

// Client has every operation of the server, pushes that gather into batches by themselves, and the event stream. Any
// number of goroutines may use it.
type Client struct {
	*api.Client

	mu      sync.Mutex
	waiting map[string][]*push
}

// push is a task on its way. Its answer comes once.
type push struct {
	item json.RawMessage
	id   string
	err  error
	done chan struct{}
}

// NewClient returns a client of the server that the options name, or PUNCTUAL_URL.
func NewClient(options ...Options) (*Client, error) {
	var given Options
	if len(options) > 0 {
		given = options[0]
	}
	inner, err := api.NewClient(given)
	if err != nil {
		return nil, err
	}
	return clientOf(inner), nil
}

func clientOf(inner *api.Client) *Client {
	return &Client{Client: inner, waiting: map[string][]*push{}}
}

// Push pushes a task, durably, and returns its id. Pushes that come while a request is under way go together in the
// next one; each caller gets its own answer. A push goes on when its context ends: only the wait for it ends.
func (c *Client) Push(ctx context.Context, queue string, payload any, options ...api.NewTask) (string, error) {
	var task api.NewTask
	if len(options) > 0 {
		task = options[0]
	}
	if payload != nil {
		task.Payload = payload
	}
	item, err := api.Encode(task)
	if err != nil {
		return "", fmt.Errorf("the task is no JSON: %w", err)
	}
	mine := &push{item: item, done: make(chan struct{})}
	c.mu.Lock()
	waiting, isUnderWay := c.waiting[queue]
	c.waiting[queue] = append(waiting, mine)
	c.mu.Unlock()
	if !isUnderWay {
		go c.sendWaiting(queue)
	}
	select {
	case <-mine.done:
		return mine.id, mine.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// PushMany pushes tasks, at most 1,000 in a request. Each answers for itself: look at OK and Code.
func (c *Client) PushMany(ctx context.Context, queue string, tasks []api.NewTask) ([]api.Result, error) {
	items := make([]json.RawMessage, len(tasks))
	for index, task := range tasks {
		item, err := api.Encode(task)
		if err != nil {
			return nil, fmt.Errorf("task %d is no JSON: %w", index, err)
		}
		items[index] = item
	}
	var results []api.Result
	for len(items) > 0 {
		number := portion(len(items), func(index int) int { return len(items[index]) })
		told, err := c.sendBatch(ctx, queue, items[:number])
		if err != nil {
			return results, err
		}
		results, items = append(results, told...), items[number:]
	}
	return results, nil
}

// WaitFor waits until a task has ended, and reads it. The context says for how long.
func (c *Client) WaitFor(ctx context.Context, queue, id string) (*api.Task, error) {
	canWait := true
	for pause := 20 * time.Millisecond; ; {
		wait := 30 * time.Second
		if deadline, has := ctx.Deadline(); has && time.Until(deadline) < wait {
			wait = time.Until(deadline)
		}
		call := api.Call{Method: "GET", Path: api.Path("/v1/queues/{queue}/tasks/{id}", queue, id)}
		if canWait && wait > 0 {
			call.Query = []api.Pair{{Name: "wait", Value: fmt.Sprintf("%.3f", wait.Seconds())}}
		}
		var task api.Task
		err := c.JSON(ctx, call, &task)
		var refused *Error
		if errors.As(err, &refused) && refused.Status == 422 && canWait {
			canWait = false // An older server: it is asked again and again.
			continue
		}
		if err != nil {
			return nil, err
		}
		switch task.State {
		case api.StateDone, api.StateFailed, api.StateCancelled:
			return &task, nil
		}
		if ctx.Err() != nil {
			return &task, fmt.Errorf("task %s of %s is %s: %w", id, queue, task.State, ctx.Err())
		}
		if !canWait {
			api.Sleep(ctx, pause)
			if pause *= 2; pause > time.Second {
				pause = time.Second
			}
		}
	}
}

func (c *Client) sendWaiting(queue string) {
	for {
		c.mu.Lock()
		waiting := c.waiting[queue]
		if len(waiting) == 0 {
			delete(c.waiting, queue)
			c.mu.Unlock()
			return
		}
		number := portion(len(waiting), func(index int) int { return len(waiting[index].item) })
		c.waiting[queue] = append([]*push{}, waiting[number:]...)
		c.mu.Unlock()
		c.sendGroup(queue, waiting[:number])
	}
}

func (c *Client) sendGroup(queue string, group []*push) {
	ctx := context.Background()
	if len(group) == 1 {
		var told struct {
			ID string `json:"id"`
		}
		path := api.Path("/v1/queues/{queue}/tasks", queue)
		err := c.JSON(ctx, api.Call{Method: "POST", Path: path, Body: group[0].item, IsKeyed: true}, &told)
		group[0].end(told.ID, err)
		return
	}
	items := make([]json.RawMessage, len(group))
	for index, it := range group {
		items[index] = it.item
	}
	results, err := c.sendBatch(ctx, queue, items)
	var refused *Error
	if errors.As(err, &refused) && (refused.Status == 400 || refused.Status == 413 || refused.Status == 422) {
		// The refusal of a batch may be the fault of one item: each gets its own answer.
		for index := range group {
			c.sendGroup(queue, group[index:index+1])
		}
		return
	}
	for index, it := range group {
		switch {
		case err != nil:
			it.end("", err)
		case results[index].Ok:
			it.end(results[index].ID, nil)
		default:
			it.end("", api.ErrorOfItem(results[index]))
		}
	}
}

func (p *push) end(id string, err error) {
	p.id, p.err = id, err
	close(p.done)
}

func (c *Client) sendBatch(ctx context.Context, queue string, items []json.RawMessage) ([]api.Result, error) {
	path := api.Path("/v1/queues/{queue}/tasks", queue)
	return batch(ctx, c.Client, api.Call{Method: "POST", Path: path, Body: batchOf(items), IsKeyed: true}, len(items))
}

// batch sends a batch; each item has its answer.
func batch(ctx context.Context, client *api.Client, call api.Call, number int) ([]api.Result, error) {
	var told api.Results
	if err := client.JSON(ctx, call, &told); err != nil {
		return nil, err
	}
	if len(told.Results) != number {
		return nil, &Error{Status: 200, Code: "unreadable", Detail: "the answer has another number of results"}
	}
	return told.Results, nil
}

func batchOf(items []json.RawMessage) json.RawMessage {
	var text bytes.Buffer
	text.WriteString(`{"tasks":`)
	writeList(&text, items)
	text.WriteByte('}')
	return text.Bytes()
}

func writeList(text *bytes.Buffer, items []json.RawMessage) {
	text.WriteByte('[')
	for index, item := range items {
		if index > 0 {
			text.WriteByte(',')
		}
		text.Write(item)
	}
	text.WriteByte(']')
}

// portion returns how many of the first items go into one request: at least one.
func portion(number int, size func(int) int) int {
	if number > itemsMax {
		number = itemsMax
	}
	sum := 0
	for index := 0; index < number; index++ {
		if sum += size(index); index > 0 && sum > bytesMax {
			return index
		}
	}
	return number
}
