package api

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	units  = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	length = regexp.MustCompile(`([0-9.]+)(ms|s|m|h|d)`)
)

func headersOf(call Call, token string) http.Header {
	header := http.Header{"User-Agent": {"punctual-go"}}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	for _, pair := range call.Headers {
		if text, has := textOf(pair.Value); has {
			header.Set(pair.Name, text)
		}
	}
	if call.IsKeyed && header.Get("Idempotency-Key") == "" {
		header.Set("Idempotency-Key", RandomText())
	}
	if hasBody(call) {
		header.Set("Content-Type", "application/json")
	}
	return header
}

// RandomText returns text that nobody else has made up.
func RandomText() string {
	var text [16]byte
	if _, err := rand.Read(text[:]); err != nil {
		panic("the system has no random numbers: " + err.Error())
	}
	return hex.EncodeToString(text[:])
}

func hasBody(call Call) bool { return call.Method != "GET" && call.Method != "DELETE" }

func bodyOf(call Call) ([]byte, error) {
	if !hasBody(call) {
		return nil, nil
	}
	if call.Body == nil {
		return []byte("{}"), nil
	}
	if raw, isRaw := call.Body.(json.RawMessage); isRaw {
		return raw, nil
	}
	return Encode(call.Body)
}

func queryOf(query []Pair) string {
	values := url.Values{}
	for _, pair := range query {
		if text, has := textOf(pair.Value); has {
			values.Set(pair.Name, text)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// textOf returns a parameter as text; false of one without a value.
func textOf(value any) (string, bool) {
	it := reflect.ValueOf(value)
	if !it.IsValid() || it.IsZero() {
		return "", false
	}
	if it.Kind() == reflect.Slice {
		parts := make([]string, it.Len())
		for index := range parts {
			parts[index] = fmt.Sprint(it.Index(index).Interface())
		}
		return strings.Join(parts, ","), true
	}
	return fmt.Sprint(value), true
}

// waitOf returns how long a request asks the server to wait.
func waitOf(call Call, body []byte) time.Duration {
	if call.Wait > 0 {
		return call.Wait
	}
	for _, pair := range call.Query {
		if text, has := textOf(pair.Value); has && pair.Name == "wait" {
			return LengthOf(text)
		}
	}
	if _, isRaw := call.Body.(json.RawMessage); isRaw || len(body) > 4096 {
		return 0
	}
	var asked struct {
		Wait Duration `json:"wait"`
	}
	if json.Unmarshal(body, &asked) != nil {
		return 0
	}
	return LengthOf(string(asked.Wait))
}

// LengthOf reads a length of time as the server does: seconds, or numbers with units; 0 if it is neither.
func LengthOf(text string) time.Duration {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(seconds * float64(time.Second))
	}
	var sum time.Duration
	for _, part := range length.FindAllStringSubmatch(text, -1) {
		if number, err := strconv.ParseFloat(part[1], 64); err == nil {
			sum += time.Duration(number * float64(units[part[2]]))
		}
	}
	return sum
}
