package punctual_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	punctual "punctual.dev/punctual-go"
	"punctual.dev/punctual-go/api"
	"punctual.dev/punctual-go/punctualtest"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestTheKnownExample(t *testing.T) {
	// The example of the Standard Webhooks specification.
	const body, id, stamp = `{"test": 2432232314}`, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330
	header := func(id, stamp, signature string) http.Header {
		it := http.Header{}
		it.Set("webhook-id", id)
		it.Set("webhook-timestamp", stamp)
		it.Set("webhook-signature", signature)
		return it
	}
	genuine := header(id, "1614265330", "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
	for _, it := range []struct {
		name   string
		body   string
		header http.Header
		now    int64
		fits   bool
	}{
		{"genuine", body, genuine, stamp, true},
		{"another body", body + " ", genuine, stamp, false},
		{"another id", body, header("other", "1614265330", genuine.Get("webhook-signature")), stamp, false},
		{"another signature", body, header(id, "1614265330", "v1,AAAA"), stamp, false},
		{"no number", body, header(id, "soon", genuine.Get("webhook-signature")), stamp, false},
		{"no header", body, http.Header{}, stamp, false},
		{"too old", body, genuine, stamp + 301, false},
		{"too new", body, genuine, stamp - 301, false},
	} {
		verifier := punctual.Verifier{Secrets: []string{"whsec_AAAA", secret}, Now: time.Unix(it.now, 0)}
		found, err := verifier.Verify([]byte(it.body), it.header)
		var refused *punctual.WebhookError
		if it.fits && (err != nil || found != id) || !it.fits && !errors.As(err, &refused) {
			t.Errorf("%s: %q, %v", it.name, found, err)
		}
	}
}

func TestRealDeliveries(t *testing.T) {
	server := punctualtest.Start(t, punctualtest.Options{RealTime: true, Args: []string{"--allow-private-targets"}})
	type delivery struct {
		body   []byte
		header http.Header
	}
	deliveries := make(chan delivery, 1)
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		deliveries <- delivery{body, request.Header}
	}))
	defer target.Close()
	seed := make([]byte, ed25519.SeedSize)
	for n := range seed {
		seed[n] = byte(n)
	}
	pair := "whsk_" + base64.StdEncoding.EncodeToString(seed)
	known := "whpk_" + base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed(seed)[ed25519.SeedSize:])
	put(t, server, "hooks", api.Settings{Mode: api.ModeHTTP, URL: target.URL, Secret: []string{secret, pair}})
	push(t, server, "hooks", map[string]int{"a": 1}, api.NewTask{ID: "h"})
	got := <-deliveries
	for _, it := range []string{secret, pair, known} {
		if _, err := punctual.Verify(got.body, got.header, it); err != nil {
			t.Errorf("%s: %v", it, err)
		}
		if _, err := punctual.Verify(append([]byte("x"), got.body...), got.header, it); err == nil {
			t.Errorf("%s fits another body", it)
		}
	}
}
