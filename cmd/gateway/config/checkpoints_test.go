package config_test

import "testing"

// Checkpoints that nobody asked for cost model calls: off, unless the file says
// otherwise.
func TestCheckpointsAreOffUnlessAskedFor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "checkpoints: {}": false, "checkpoints: {enabled: true}": true} {
		if got := mustLoad(t, text, nil).Checkpoints.Enabled; got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
