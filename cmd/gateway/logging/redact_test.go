package logging

import (
	"strings"
	"testing"
)

// The quick look must never spare a text that the expression would mask.
func FuzzSuspectMissesNothing(f *testing.F) {
	for _, seed := range []string{"123456:" + strings.Repeat("a", 30), "xoxe.x-12345678", "BEARER  abcdefgh", "ſk-abcdefghijklmnopq", "xapp-abcdefgh"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if credential.MatchString(text) && !suspect(text) {
			t.Errorf("%q is spared", text)
		}
	})
}
