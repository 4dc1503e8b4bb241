package punctual_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	punctual "punctual.dev/punctual-go"
	"punctual.dev/punctual-go/api"
	"punctual.dev/punctual-go/punctualtest"
)

var (
	ctx  = context.Background()
	keep = &api.Keep{Done: "1h", Failed: "1h", Cancelled: "1h"}
)

// until waits for a condition, for 20 seconds at most.
func until(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the condition did not come to hold")
		}
	}
}

func ok[T any](t *testing.T, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func waited(t *testing.T, client *punctual.Client, queue, id string) *api.Task {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	task, err := client.WaitFor(limited, queue, id)
	return ok(t, task, err)
}

// counted is a connection that counts requests and can lose answers.
type counted struct {
	requests, answersToLose atomic.Int32
}

func (c *counted) RoundTrip(request *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err == nil && c.answersToLose.Add(-1) >= 0 {
		answer.Body.Close()
		return nil, errors.New("the answer was lost")
	}
	return answer, err
}

func countedClient(t *testing.T, server *punctualtest.Server) (*punctual.Client, *counted) {
	t.Helper()
	it := &counted{}
	client, err := punctual.NewClient(punctual.Options{URL: server.URL, HTTP: &http.Client{Transport: it}})
	return ok(t, client, err), it
}

func TestEveryResource(t *testing.T) {
	server := punctualtest.Start(t, punctualtest.Options{Args: []string{"--allow-private-targets"}})
	client := server.Client
	queue, err := client.PutQueue(ctx, "mail", api.Settings{Hold: "10s", Tag: "letters"})
	if ok(t, queue, err).Hold != 10 || queue.Tag != "letters" {
		t.Fatalf("%+v", queue)
	}
	queue, err = client.PutQueue(ctx, "mail", api.Settings{Also: map[string]any{"tag": nil}})
	if ok(t, queue, err).Tag != "" || queue.Hold != 10 {
		t.Fatalf("null takes the tag away and leaves the rest: %+v", queue)
	}
	_, err = client.PushTask(ctx, "mail", api.NewTask{ID: "m1", Payload: map[string]any{"to": "ada"}, Priority: 3})
	ok(t, 0, err)
	task, err := client.GetTask(ctx, "mail", "m1")
	if ok(t, task, err).Priority != 3 || string(task.Payload) != `{"to":"ada"}` || task.TakenAt != nil {
		t.Fatalf("%+v", task)
	}
	why, err := client.Why(ctx, "mail", "m1")
	if ok(t, why, err).Reason != api.ReasonNoTaker {
		t.Fatalf("%+v", why)
	}
	_, err = client.PushBundle(ctx, "mail", "key/1", api.BundlePush{Task: 1})
	ok(t, 0, err)
	bundle, err := client.ReadBundle(ctx, "mail", "key/1")
	if ok(t, bundle, err).Size != 1 || string(bundle.Tasks[0]) != "1" {
		t.Fatalf("%+v", bundle)
	}
	notice, err := client.PushNotice(ctx, api.Message{URL: "http://127.0.0.1:9/", Data: map[string]int{"a": 1}})
	ok(t, notice, err)
	plan, err := client.CreatePlan(ctx, api.NewPlan{Station: "mail", PlanType: api.PlanTypeHour, PlanValue: 1, PlanRepet: 2, PlanTime: 0})
	ok(t, plan, err)
	times, err := client.PlanOccurrences(ctx, plan.PlanID, api.PlanOccurrencesOptions{N: 1})
	if !ok(t, times, err).Items[0].Equal(*plan.NextAt) {
		t.Fatalf("%v is not %v", times, plan.NextAt)
	}
	steps := []api.NewStep{{Name: "a", Queue: "mail"}, {Name: "b", Queue: "mail", After: []string{"a"}}}
	flow, err := client.CreateFlow(ctx, api.NewFlow{Steps: steps})
	if len(ok(t, flow, err).Steps) != 2 || flow.Steps[1].State != "pending" {
		t.Fatalf("%+v", flow)
	}
	page, err := client.ListTasks(ctx, "mail", api.ListTasksOptions{State: "ready", Limit: 1})
	if len(ok(t, page, err).Items) != 1 || page.Next == "" {
		t.Fatalf("%+v", page)
	}
	metrics, err := client.Metrics(ctx)
	if !strings.HasPrefix(ok(t, metrics, err), "#") {
		t.Fatal(metrics)
	}
	ok(t, 0, client.DeleteTask(ctx, "mail", "m1"))
}

func TestPushesGather(t *testing.T) {
	client, seen := countedClient(t, punctualtest.Start(t))
	_, err := client.Push(ctx, "q", 1, api.NewTask{ID: "taken"})
	ok(t, 0, err)
	seen.requests.Store(0)
	together := func(ids []string) []string {
		told := make([]string, len(ids))
		var all sync.WaitGroup
		for index := range ids {
			all.Add(1)
			go func(index int) {
				defer all.Done()
				id, err := client.Push(ctx, "q", index, api.NewTask{ID: ids[index]})
				if told[index] = id; err != nil {
					told[index] = api.CodeOf(err)
				}
			}(index)
		}
		all.Wait()
		return told
	}
	ids := make([]string, 200)
	for n := range ids {
		ids[n] = fmt.Sprintf("t%d", n)
	}
	if told := together(ids); fmt.Sprint(told) != fmt.Sprint(ids) {
		t.Fatal(told)
	}
	if number := seen.requests.Load(); number > 50 {
		t.Fatalf("%d requests for 200 pushes", number)
	}
	if told := fmt.Sprint(together([]string{"a", "taken", "b c", "d"})); told != "[a duplicate invalid d]" {
		t.Fatal(told)
	}
}

func TestLostAnswers(t *testing.T) {
	client, seen := countedClient(t, punctualtest.Start(t))
	seen.answersToLose.Store(1)
	_, err := client.Push(ctx, "once", 1)
	ok(t, 0, err)
	queue, err := client.GetQueue(ctx, "once")
	if ok(t, queue, err).Counts.Total != 1 {
		t.Fatalf("pushed %d times", queue.Counts.Total)
	}
	seen.answersToLose.Store(1)
	ok(t, 0, client.DeleteQueue(ctx, "once"))
	seen.answersToLose.Store(1)
	var unanswered *punctual.NoAnswer
	if _, err := client.MoveClock(ctx, api.Move{Advance: "1s"}); !errors.As(err, &unanswered) {
		t.Fatalf("a move of the clock is not repeated: %v", err)
	}
}

func TestBadInput(t *testing.T) {
	client := punctualtest.Start(t).Client
	_, err := client.PutQueue(ctx, "q", api.Settings{Hold: "soon"})
	var refused *punctual.Error
	if !errors.As(err, &refused) || refused.Status != 422 || refused.Code != "invalid" || !strings.Contains(refused.Detail, "hold") {
		t.Fatal(err)
	}
	if _, err = client.GetQueue(ctx, ".."); err == nil || !strings.Contains(err.Error(), "no name") {
		t.Fatal(err)
	}
	if _, err = client.Push(ctx, "q", func() {}); err == nil || !strings.Contains(err.Error(), "no JSON") {
		t.Fatal(err)
	}
	if _, err = punctual.NewClient(punctual.Options{URL: "ftp://nowhere"}); err == nil {
		t.Fatal("ftp is no address")
	}
	if err = punctual.New(punctual.AppOptions{Options: punctual.Options{URL: "ftp://nowhere"}}).Run(ctx); err == nil {
		t.Fatal("the error comes when it runs")
	}
}

func TestAServerThatIsAway(t *testing.T) {
	server := punctualtest.Start(t, punctualtest.Options{Durable: true, RealTime: true})
	client := ok(t, server.Client, nil)
	listening, stop := context.WithCancel(ctx)
	ended := make(chan error)
	var heard atomic.Value
	heard.Store("")
	go func() {
		ended <- client.Events(listening, punctual.EventOptions{Queue: "q", Type: "task.*"}, func(event punctual.Event) error {
			var data struct{ ID string }
			heard.Store(event.Type)
			if err := json.Unmarshal(event.Data, &data); err == nil && strings.HasPrefix(data.ID, "b") {
				heard.Store("b")
			}
			return nil
		})
	}()
	number := 0
	hears := func(id, what string) func() bool {
		return func() bool {
			number++
			_, err := client.Push(ctx, "q", 1, api.NewTask{ID: fmt.Sprintf("%s%d", id, number)})
			return ok(t, heard.Load(), err) == what
		}
	}
	until(t, hears("a", "task.pushed"))
	server.Kill()
	var unreachable *punctual.Unreachable
	hasty, err := punctual.NewClient(punctual.Options{URL: server.URL, RetryFor: -1})
	if _, err = ok(t, hasty, err).Push(ctx, "q", 1); !errors.As(err, &unreachable) {
		t.Fatal(err)
	}
	pushing := make(chan error)
	go func() {
		_, err := client.Push(ctx, "q", 2, api.NewTask{ID: "meanwhile"})
		pushing <- err
	}()
	server.Restart()
	ok(t, 0, <-pushing)
	until(t, hears("b", "b"))
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestWaitFor(t *testing.T) {
	client := punctualtest.Start(t).Client
	_, err := client.PutQueue(ctx, "ends", api.Settings{Keep: keep})
	ok(t, 0, err)
	_, err = client.Push(ctx, "ends", 1, api.NewTask{ID: "t", Delay: api.In(time.Hour)})
	ok(t, 0, err)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := client.WaitFor(short, "ends", "t"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	_, err = client.CancelTask(ctx, "ends", "t")
	ok(t, 0, err)
	if task := waited(t, client, "ends", "t"); task.State != api.StateCancelled {
		t.Fatal(task.State)
	}
}
