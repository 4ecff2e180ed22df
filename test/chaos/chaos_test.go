package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"parley/test/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shortMax bounds the short form; on a machine with nothing else to do it takes
// a tenth of that.
const shortMax = 15 * time.Minute

// Every experiment in its short form, on every store there is. The one with a
// wrong clock is left to the command: Go's own library is compiled anew for it.
//
// The command runs as it is for people: the race detector would slow down the
// platforms, which are in it, and not the gateways. What fails while calls were
// not answered in time, because the machine had other things to do, is tried
// once more alone; what fails without that excuse, or again, fails.
func TestNothingIsLostAndNothingComesTwice(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute or two")
	}
	redistest.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), shortMax)
	defer cancel()
	chaos := filepath.Join(t.TempDir(), "chaos")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", chaos, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names := slices.DeleteFunc(experimentNames(), func(name string) bool { return name == "clock" })
	for _, r := range runShort(ctx, t, chaos, "-parallel", "6", "-experiment", strings.Join(names, ",")) {
		if r.ok() {
			continue
		}
		t.Logf("%s on %s: %s", r.Experiment, r.Store, r.summary())
		if r.Strained > 0 {
			again := runShort(ctx, t, chaos, "-parallel", "1", "-experiment", r.Experiment, "-store", r.Store)
			t.Logf("once more, alone: %s", again[0].summary())
			r = again[0]
		}
		if !r.ok() {
			t.Errorf("%s on %s does not hold", r.Experiment, r.Store)
		}
	}
}

// runShort runs the command and returns what it found.
func runShort(ctx context.Context, t *testing.T, chaos string, args ...string) []result {
	t.Helper()
	command := exec.CommandContext(ctx, chaos, append([]string{"-short", "-json"}, args...)...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = time.Minute
	command.Stderr = t.Output()
	out, err := command.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != exitViolated) {
		t.Fatal(err)
	}
	var report struct{ Results []result }
	if err := json.Unmarshal(out, &report); err != nil || len(report.Results) == 0 {
		t.Fatalf("no results: %v", err)
	}
	return report.Results
}
