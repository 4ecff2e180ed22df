package api

import "testing"

// The documented recipe (an HMAC by any tool) has to go on giving this token.
func TestMetricsTokenIsStable(t *testing.T) {
	t.Parallel()
	const want = "44811b879763fc6fc8554dfe4778581fc381b4515068bb07e194f3db7cac89dc"
	if got := metricsToken("an owner's token"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
