// Carries out the story's commands with the Go SDK: one JSON object per line in, one answer per line out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"punctual.dev/punctual-go"
)

var (
	ctx       = context.Background()
	client    = must(punctual.NewClient())
	impatient = must(punctual.NewClient(punctual.Options{RetryFor: -1}))
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var told map[string]any
		if value, err := answered(lines.Bytes()); err != nil {
			told = map[string]any{"error": described(err)}
		} else {
			told = map[string]any{"ok": value}
		}
		text, err := json.Marshal(told)
		if err != nil {
			text = []byte(`{"error": {"kind": "other", "detail": "the answer is no JSON"}}`)
		}
		fmt.Printf("%s\n", text)
	}
}

func answered(line []byte) (any, error) {
	var order order
	if err := json.Unmarshal(line, &order); err != nil {
		return nil, err
	}
	command, isKnown := commands[order.Do]
	if !isKnown {
		return nil, fmt.Errorf("no such command: %s", order.Do)
	}
	return command(order)
}

func described(err error) map[string]any {
	told := map[string]any{"kind": "other", "detail": err.Error()}
	var refused *punctual.Error
	var unreachable *punctual.Unreachable
	var unanswered *punctual.NoAnswer
	var webhook *punctual.WebhookError
	switch {
	case errors.As(err, &refused):
		told["kind"], told["status"], told["code"], told["detail"] = "api", refused.Status, refused.Code, refused.Detail
	case errors.As(err, &unreachable):
		told["kind"] = "unreachable"
	case errors.As(err, &unanswered):
		told["kind"] = "no_answer"
	case errors.As(err, &webhook):
		told["kind"] = "webhook"
	}
	return told
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}
