// A long task: progress, checkpoints, a stop in the middle, and log lines.
package main

import (
	"context"
	"fmt"
	"time"

	"punctual.dev/punctual-go"
)

type order struct {
	Pages int `json:"pages"`
}

func write(ctx context.Context, task *punctual.Task, order order) (string, error) {
	page := 0
	if _, err := task.Checkpoint(&page); err != nil {
		return "", err
	}
	for ; page < order.Pages; page++ {
		if err := task.Check(); err != nil {
			return "", err // The task was cancelled or paused, or the program stops.
		}
		task.Log("page %d is written", page+1)
		task.Progress(float64(page+1)/float64(order.Pages), fmt.Sprintf("page %d of %d", page+1, order.Pages))
		if err := task.SaveCheckpoint(page + 1); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d pages", order.Pages), nil
}

func main() {
	app := punctual.New(punctual.AppOptions{Grace: 10 * time.Second})
	punctual.Handle(app, "report", write, punctual.HandlerOptions{Concurrency: 2})
	app.Main()
}
