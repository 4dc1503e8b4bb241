package punctual

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookError says that a delivery is not genuine, or too old.
type WebhookError struct{ Reason string }

func (e *WebhookError) Error() string { return e.Reason }

// Verifier checks deliveries: Standard Webhooks, signatures v1 (HMAC-SHA256) and v1a (Ed25519).
type Verifier struct {
	// Secrets are one or several of: whsec_… or plain text (HMAC), whpk_… (a public Ed25519 key) or whsk_… (the key
	// pair). One signature that fits is enough.
	Secrets []string
	// Tolerance is how far the sender's clock and this one may be apart; 5 minutes if left out.
	Tolerance time.Duration
	// Now is the time; the clock's if left out.
	Now time.Time
}

// Verify checks a delivery and returns its webhook-id, by which a repeat is recognised. The body is the request's body
// as it came, before any parsing.
func Verify(body []byte, header http.Header, secrets ...string) (string, error) {
	return Verifier{Secrets: secrets}.Verify(body, header)
}

// Verify checks a delivery and returns its webhook-id.
func (v Verifier) Verify(body []byte, header http.Header) (string, error) {
	id, stamp, given := header.Get("webhook-id"), header.Get("webhook-timestamp"), header.Values("webhook-signature")
	for name, value := range map[string]string{"webhook-id": id, "webhook-timestamp": stamp, "webhook-signature": strings.Join(given, " ")} {
		if value == "" {
			return "", &WebhookError{"the header '" + name + "' is missing"}
		}
	}
	seconds, err := strconv.ParseUint(stamp, 10, 62)
	if err != nil {
		return "", &WebhookError{"webhook-timestamp is no number"}
	}
	now, tolerance := v.Now, v.Tolerance
	if now.IsZero() {
		now = time.Now()
	}
	if tolerance == 0 {
		tolerance = 5 * time.Minute
	}
	// Not by time.Sub: it would end at 292 years.
	if apart := now.Unix() - int64(seconds); apart > int64(tolerance.Seconds()) || -apart > int64(tolerance.Seconds()) {
		return "", &WebhookError{"webhook-timestamp is too far from now"}
	}
	message := append([]byte(id+"."+stamp+"."), body...)
	for _, signature := range strings.Fields(strings.Join(given, " ")) {
		kind, text, _ := strings.Cut(signature, ",")
		signed, err := decoded(text)
		if err != nil {
			continue
		}
		for _, secret := range v.Secrets {
			if fits(kind, secret, message, signed) {
				return id, nil
			}
		}
	}
	return "", &WebhookError{"no signature fits"}
}

func fits(kind, secret string, message, signed []byte) bool {
	if strings.HasPrefix(secret, "whpk_") || strings.HasPrefix(secret, "whsk_") {
		key, err := decoded(secret[len("whpk_"):])
		if kind != "v1a" || err != nil || len(key) < ed25519.SeedSize {
			return false
		}
		known := ed25519.PublicKey(key[:ed25519.PublicKeySize])
		if strings.HasPrefix(secret, "whsk_") {
			known = ed25519.NewKeyFromSeed(key[:ed25519.SeedSize]).Public().(ed25519.PublicKey)
		}
		return len(signed) == ed25519.SignatureSize && ed25519.Verify(known, message, signed)
	}
	key := []byte(secret)
	if strings.HasPrefix(secret, "whsec_") {
		var err error
		if key, err = decoded(secret[len("whsec_"):]); err != nil {
			return false
		}
	}
	sum := hmac.New(sha256.New, key)
	sum.Write(message)
	return kind == "v1" && hmac.Equal(sum.Sum(nil), signed)
}

// decoded reads Base64, standard or URL-safe, padded or not.
func decoded(text string) ([]byte, error) {
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	return base64.RawStdEncoding.DecodeString(text)
}
