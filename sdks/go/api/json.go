package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// In returns a length of time as the server reads it.
func In(length time.Duration) Duration {
	return Duration(fmt.Sprintf("%g", length.Seconds()))
}

// At returns a point in time as the server reads it.
func At(time_ time.Time) When {
	return When(time_.UTC().Format(time.RFC3339Nano))
}

// Encode writes JSON without escaping characters that need none.
func Encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(text.Bytes(), "\n"), nil
}

// withAlso writes an object and members besides.
func withAlso(value any, also map[string]any) ([]byte, error) {
	text, err := Encode(value)
	if err != nil || len(also) == 0 {
		return text, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	for name, more := range also {
		if members[name], err = Encode(more); err != nil {
			return nil, err
		}
	}
	return Encode(members)
}

// textOrNumber writes text that is a number as a number.
func textOrNumber(text string) ([]byte, error) {
	if text != "" && strings.Trim(text, "-+.eE0123456789") == "" && json.Valid([]byte(text)) {
		return []byte(text), nil
	}
	return Encode(text)
}

// readText reads text, or a number as text.
func readText(from []byte, into *string) error {
	if len(from) > 0 && from[0] == '"' {
		return json.Unmarshal(from, into)
	}
	if string(from) != "null" {
		*into = string(from)
	}
	return nil
}
