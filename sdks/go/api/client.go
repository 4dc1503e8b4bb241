// Package api has every operation of a Punctual server, a method each, and the types of requests and answers.
//
// The types and the methods are written from the server's /openapi.json; this file and errors.go are how requests are
// sent, with pauses while the server is away. Programs use the package punctual, whose client has all of these methods.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	defaultURL = "http://127.0.0.1:23334"
	// How long a request may take beyond the time it asked the server to wait.
	timeout    = 30 * time.Second
	pauseFirst = 100 * time.Millisecond
	pauseMax   = 2 * time.Second
)

// Options say where the server is and how to speak to it.
type Options struct {
	// URL of the server; PUNCTUAL_URL if left out.
	URL string
	// Token for access; PUNCTUAL_TOKEN if left out.
	Token string
	// RetryFor is how long a server that is away is waited for; 10 seconds if left out, negative: not at all.
	RetryFor time.Duration
	// HTTP replaces the HTTP client, for proxies and certificates.
	HTTP *http.Client
}

// Client sends requests to one server. Any number of goroutines may use it.
type Client struct {
	url      string
	token    string
	retryFor time.Duration
	http     *http.Client
}

// NewClient returns a client; an error if the URL is none.
func NewClient(options Options) (*Client, error) {
	address := first(options.URL, os.Getenv("PUNCTUAL_URL"), defaultURL)
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, fmt.Errorf("%q is no address of a server, such as %s", address, defaultURL)
	}
	c := &Client{
		url:      strings.TrimRight(address, "/"),
		token:    first(options.Token, os.Getenv("PUNCTUAL_TOKEN")),
		retryFor: options.RetryFor,
		http:     options.HTTP,
	}
	if c.retryFor == 0 {
		c.retryFor = 10 * time.Second
	}
	if c.http == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		// Compression costs more than it saves between machines of one site.
		transport.DisableCompression = true
		transport.MaxIdleConnsPerHost = 64
		c.http = &http.Client{Transport: transport}
	}
	return c, nil
}

// URL returns the address of the server.
func (c *Client) URL() string { return c.url }

// Impatient returns a client of the same server that does not wait for one that is away.
func (c *Client) Impatient() *Client {
	copied := *c
	copied.retryFor = -1
	return &copied
}

// Route is a path with its places filled.
type Route struct {
	path string
	err  error
}

// Path fills the places of a path. Everything but unreserved characters is escaped.
func Path(template string, values ...string) Route {
	for _, value := range values {
		if value == "" || value == "." || value == ".." {
			return Route{err: fmt.Errorf("%q is no name, id or key: the path would be another one", value)}
		}
		begin, end := strings.Index(template, "{"), strings.Index(template, "}")
		// A slash of a value must not look like one of the path, nor a brace like another place.
		template = template[:begin] + strings.ReplaceAll(url.QueryEscape(value), "+", "%20") + template[end+1:]
	}
	return Route{path: template}
}

// Pair is a parameter of a request; one without a value is left out.
type Pair struct {
	Name  string
	Value any
}

// Call is a request, ready to be sent again and again.
type Call struct {
	Method  string
	Path    Route
	Query   []Pair
	Headers []Pair
	// Body is written as JSON; json.RawMessage is JSON already.
	Body any
	// Wait is how long the request asks the server to wait; a body or a query that says so needs none.
	Wait time.Duration
	// IsKeyed: the server recognises a repeat by its Idempotency-Key.
	IsKeyed bool
	// IsOnce: it must not be sent again when nobody knows whether it took effect.
	IsOnce bool
}

// answer sends a request and reads its answer as JSON.
func answer[T any](ctx context.Context, c *Client, call Call) (*T, error) {
	var into T
	if err := c.JSON(ctx, call, &into); err != nil {
		return nil, err
	}
	return &into, nil
}

// JSON sends a request and reads its answer as JSON.
func (c *Client) JSON(ctx context.Context, call Call, into any) error {
	content, err := c.Bytes(ctx, call)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return &Error{Status: 200, Code: "unreadable", Detail: fmt.Sprintf("%s does not answer as expected: %v", c.url, err)}
	}
	return nil
}

// None sends a request whose answer has no content.
func (c *Client) None(ctx context.Context, call Call) error {
	_, err := c.Bytes(ctx, call)
	return err
}

// Text sends a request and returns its answer.
func (c *Client) Text(ctx context.Context, call Call) (string, error) {
	content, err := c.Bytes(ctx, call)
	return string(content), err
}

// Bytes sends a request and returns its answer. It is sent again while that is of use.
func (c *Client) Bytes(ctx context.Context, call Call) ([]byte, error) {
	if call.Path.err != nil {
		return nil, call.Path.err
	}
	body, err := bodyOf(call)
	if err != nil {
		return nil, err
	}
	header, target := headersOf(call, c.token), c.url+call.Path.path+queryOf(call.Query)
	until, wasUnclear := time.Now().Add(c.retryFor), false
	for failures := 0; ; failures++ {
		content, err := c.once(ctx, call, target, header, body)
		if err == nil {
			return content, nil
		}
		var refused *Error
		if wasUnclear && call.Method == "DELETE" && errors.As(err, &refused) && refused.Status == 404 {
			return nil, nil // The first try removed it, and its answer was lost.
		}
		pause := Pause(failures, err, pauseMax)
		if !mayRepeat(err, call) || time.Now().Add(pause).After(until) {
			return nil, err
		}
		wasUnclear = wasUnclear || !isUnreachable(err)
		if !Sleep(ctx, pause) {
			return nil, ctx.Err()
		}
	}
}

func (c *Client) once(ctx context.Context, call Call, target string, header http.Header, body []byte) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, timeout+waitOf(call, body))
	defer cancel()
	request, err := http.NewRequestWithContext(limited, call.Method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = header
	told, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, broken(c.url, err)
	}
	defer told.Body.Close()
	content, err := io.ReadAll(told.Body)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, broken(c.url, err)
	}
	if told.StatusCode >= 300 {
		return nil, refusal(c.url, told.StatusCode, content, told.Header)
	}
	return content, nil
}

// Stream opens an answer that has no end. The caller closes it.
func (c *Client) Stream(ctx context.Context, call Call) (io.ReadCloser, error) {
	target := c.url + call.Path.path + queryOf(call.Query)
	request, err := http.NewRequestWithContext(ctx, call.Method, target, nil)
	if err != nil {
		return nil, err
	}
	request.Header = headersOf(call, c.token)
	told, err := c.http.Do(request)
	if err != nil {
		return nil, broken(c.url, err)
	}
	if told.StatusCode >= 300 {
		defer told.Body.Close()
		content, _ := io.ReadAll(told.Body)
		return nil, refusal(c.url, told.StatusCode, content, told.Header)
	}
	return told.Body, nil
}

// Broken returns the error of a stream that broke off.
func (c *Client) Broken(err error) error { return broken(c.url, err) }

func mayRepeat(err error, call Call) bool {
	var refused *Error
	switch {
	case isUnreachable(err):
		return true
	case isUnanswered(err):
		return !call.IsOnce
	case errors.As(err, &refused):
		return refused.Code == "limited" || (refused.Status == 503 && (!call.IsOnce || refused.Effect == "none"))
	}
	return false
}

// Pause returns how long to wait after so many failures in a row: longer each time, never in step with others.
func Pause(failures int, err error, max time.Duration) time.Duration {
	if failures > 10 {
		failures = 10
	}
	pause := pauseFirst << failures
	if pause > max {
		pause = max
	}
	pause = time.Duration(float64(pause) * (0.75 + rand.Float64()/4))
	var refused *Error
	if errors.As(err, &refused) && refused.RetryAfter > pause {
		return refused.RetryAfter
	}
	return pause
}

// Sleep waits; false if the context ended first.
func Sleep(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// last returns the options that were given; none: those without any value.
func last[T any](options []T) (it T) {
	if len(options) > 0 {
		it = options[len(options)-1]
	}
	return it
}
