// A worker: carries out the tasks of the queue mail until Ctrl-C.
package main

import (
	"context"
	"punctual.dev/punctual-go"
)

func main() {
	app := punctual.New()
	punctual.Handle(app, "mail", func(ctx context.Context, task *punctual.Task, mail map[string]string) (string, error) {
		return "sent to " + mail["to"], nil
	})
	app.Main()
}
