package architecture_test

import (
	"regexp"
	"strings"
	"testing"
)

// namesAPlatform finds code that says which platform it means.
var namesAPlatform = regexp.MustCompile(`adapters\.(Telegram|Discord|Slack)\b|(?i)"(telegram|discord|slack)["_:]`)

// mayNamePlatforms are the adapters, the configuration and the wiring, and what
// only tests use.
func mayNamePlatforms(path string) bool {
	for _, room := range []string{"adapters/", "cmd/gateway/config/", "cmd/gateway/wiring/", "test/", "sessions/storetest/"} {
		if strings.HasPrefix(path, room) {
			return true
		}
	}
	return strings.HasSuffix(path, "_test.go")
}

// What sets platforms apart is asked of adapters.Traits and of an adapter's
// Capabilities, so that a new platform is found everywhere at once.
func TestNoPlatformIsNamedOutsideItsAdapter(t *testing.T) {
	t.Parallel()
	eachSource(t, func(path string, source []byte) {
		if !strings.HasSuffix(path, ".go") || mayNamePlatforms(path) {
			return
		}
		for i, line := range strings.Split(string(source), "\n") {
			code, _, _ := strings.Cut(line, "//")
			if found := namesAPlatform.FindString(code); found != "" {
				t.Errorf("%s:%d names a platform (%s): ask adapters.Traits or Capabilities instead", path, i+1, found)
			}
		}
	})
}
