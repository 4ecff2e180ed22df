package secret_test

import (
	"crypto/rand"
	"testing"

	"parley/internal/secret"
)

func TestBits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		rand.Text(): true, "0123456789abcdef0123456789abcdef": true, "kW3nT0_xPq9LzR7-vB2mYc": true,
		"": false, "a": false, "0123456789abcdef": false, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": false, "hunter2hunter2": false, "12345678901234567890": false,
	} {
		if got := secret.Bits(text) >= 128; got != want {
			t.Errorf("%q: %v bits", text, secret.Bits(text))
		}
	}
}
