package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Error is the server's refusal of a request. Code is stable and for programs, Detail is a sentence for people.
type Error struct {
	Status int
	Code   string
	Detail string
	// Effect is "none" or "unknown" where the server cannot write at the moment.
	Effect string
	// RetryAfter is the time after which to ask again, if the server named one.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Code
	}
	return e.Code + ": " + e.Detail
}

// Unreachable says that no connection could be made. Nothing was sent.
type Unreachable struct {
	URL   string
	Cause error
}

func (e *Unreachable) Error() string { return fmt.Sprintf("cannot reach %s: %v", e.URL, e.Cause) }

// Unwrap returns the error of the connection.
func (e *Unreachable) Unwrap() error { return e.Cause }

// NoAnswer says that the connection broke, or that no answer came in time. The request may have taken effect.
type NoAnswer struct {
	URL   string
	Cause error
}

func (e *NoAnswer) Error() string { return fmt.Sprintf("no answer from %s: %v", e.URL, e.Cause) }

// Unwrap returns the error of the connection.
func (e *NoAnswer) Unwrap() error { return e.Cause }

// CodeOf returns the code of the server's refusal; "" of every other error.
func CodeOf(err error) string {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// IsPassing tells whether the same request may succeed later.
func IsPassing(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		return refused.Status == http.StatusTooManyRequests || refused.Status >= 500
	}
	return isUnreachable(err) || isUnanswered(err)
}

// statuses has the status of an item's code where a batch answers 200.
var statuses = map[string]int{
	"bad_json": 400, "unauthorized": 401, "forbidden": 403, "not_found": 404, "duplicate": 409, "stale_token": 409,
	"wrong_state": 409, "changed": 412, "too_large": 413, "unsupported": 415, "invalid": 422, "queue_full": 429,
	"limited": 429, "unavailable": 503,
}

// ErrorOfItem returns the error of one item of a batch.
func ErrorOfItem(result Result) *Error {
	code := result.Code
	if code == "" {
		code = "invalid"
	}
	status, isKnown := statuses[code]
	if !isKnown {
		status = http.StatusUnprocessableEntity
	}
	return &Error{Status: status, Code: code, Detail: result.Detail}
}

func isUnreachable(err error) bool {
	var it *Unreachable
	return errors.As(err, &it)
}

func isUnanswered(err error) bool {
	var it *NoAnswer
	return errors.As(err, &it)
}

// broken returns the error of a request without an answer.
func broken(url string, err error) error {
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Op == "dial" {
		return &Unreachable{URL: url, Cause: err}
	}
	return &NoAnswer{URL: url, Cause: err}
}

// refusal returns the error of an answer that is no success.
func refusal(url string, status int, content []byte, header http.Header) error {
	var after time.Duration
	if seconds, err := strconv.ParseFloat(header.Get("Retry-After"), 64); err == nil && seconds > 0 {
		after = time.Duration(seconds * float64(time.Second))
	}
	var told struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
		Effect string `json:"effect"`
	}
	if err := json.Unmarshal(content, &told); err == nil && told.Code != "" {
		return &Error{Status: status, Code: told.Code, Detail: told.Detail, Effect: told.Effect, RetryAfter: after}
	}
	if status == 502 || status == 503 || status == 504 {
		return &NoAnswer{URL: url, Cause: fmt.Errorf("something between here and the server answered %d", status)}
	}
	if len(content) > 200 {
		content = content[:200]
	}
	return &Error{Status: status, Code: "unreadable", Detail: fmt.Sprintf("%d: %s", status, content), RetryAfter: after}
}
