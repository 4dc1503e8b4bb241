package punctual

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"punctual.dev/punctual-go/api"
)

// The server says something at least every 15 seconds.
const silenceMax = 45 * time.Second

// Event is something that happened at the server. A stream can go on from its ID.
type Event struct {
	Type string
	ID   string
	Data json.RawMessage
}

// EventOptions select events. Queue and Type may list several, separated by commas; Type may end with "*".
type EventOptions struct {
	Queue       string
	Type        string
	LastEventID string
}

// Events calls a function with everything that happens, until the context ends or the function returns an error. A
// stream that breaks off is opened again where it was; the event stream.gap says that some are missing.
func (c *Client) Events(ctx context.Context, options EventOptions, hear func(Event) error) error {
	for failures := 0; ; failures++ {
		err := c.listen(ctx, &options, func(event Event) error {
			failures = 0
			return hear(event)
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var unreachable *Unreachable
		var unanswered *NoAnswer
		if !errors.As(err, &unreachable) && !errors.As(err, &unanswered) {
			return err
		}
		if !api.Sleep(ctx, api.Pause(failures, err, 2*time.Second)) {
			return ctx.Err()
		}
	}
}

func (c *Client) listen(ctx context.Context, options *EventOptions, hear func(Event) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silence := time.AfterFunc(silenceMax, cancel)
	defer silence.Stop()
	stream, err := c.Stream(ctx, api.Call{
		Method:  "GET",
		Path:    api.Path("/v1/events"),
		Query:   []api.Pair{{Name: "queue", Value: options.Queue}, {Name: "type", Value: options.Type}},
		Headers: []api.Pair{{Name: "Last-Event-ID", Value: options.LastEventID}},
	})
	if err != nil {
		return err
	}
	defer stream.Close()
	lines, it := bufio.NewReader(stream), reader{lastID: options.LastEventID}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if err == io.EOF {
				err = errors.New("the stream ended")
			}
			return c.Broken(err)
		}
		silence.Reset(silenceMax)
		if event := it.read(strings.TrimRight(line, "\r\n")); event != nil {
			options.LastEventID = it.lastID
			if err := hear(*event); err != nil {
				return err
			}
		}
	}
}

// reader puts lines of a stream together to events.
type reader struct {
	lastID string
	kind   string
	data   []string
}

// read reads a line; returns the event that it ends.
func (r *reader) read(line string) *Event {
	if line != "" {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			r.data = append(r.data, value)
		case "event":
			r.kind = value
		case "id":
			r.lastID = value
		}
		return nil
	}
	data, kind := strings.Join(r.data, "\n"), r.kind
	r.data, r.kind = nil, ""
	if data == "" && kind == "" {
		return nil
	}
	if data == "" {
		data = "{}"
	}
	return &Event{Type: kind, ID: r.lastID, Data: json.RawMessage(data)}
}
