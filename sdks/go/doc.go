// Package punctual is client and worker for Punctual, a durable task queue.
//
// A worker has a handler per queue and runs until a signal comes:
//
//	app := punctual.New()
//	punctual.Handle(app, "mail", func(ctx context.Context, task *punctual.Task, mail Mail) (string, error) {
//		return "sent to " + mail.To, nil
//	})
//	err := app.Run(context.Background())
//
// A client pushes tasks and does everything else that the server offers; its methods and types are those of the
// package api.
package punctual

import "punctual.dev/punctual-go/api"

type (
	// Options say where the server is: see api.Options.
	Options = api.Options
	// Error is the server's refusal of a request.
	Error = api.Error
	// Unreachable says that no connection could be made.
	Unreachable = api.Unreachable
	// NoAnswer says that a request may have taken effect, and that its answer is not known.
	NoAnswer = api.NoAnswer
)
