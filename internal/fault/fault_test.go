package fault_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"parley/internal/fault"
)

// A word of the package that only a build with faults can hold, and one that
// it prints.
func TestOnlyABuildForTestsHoldsFaults(t *testing.T) {
	t.Parallel()
	for _, build := range []struct {
		name string
		args []string
		want bool
	}{
		{"production", nil, false},
		{"tests", []string{"-tags", "faults"}, true},
	} {
		t.Run(build.name, func(t *testing.T) {
			t.Parallel()
			binary := buildGateway(t, build.args...)
			for _, word := range []string{fault.Variable, "parley/internal/fault.", string(fault.AfterSendBeforeReceipt)} {
				if got := bytes.Contains(binary, []byte(word)); got != build.want {
					t.Errorf("the gateway holds %q: %t, want %t", word, got, build.want)
				}
			}
		})
	}
}

func buildGateway(t *testing.T, args ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway")
	args = append([]string{"build", "-o", path}, append(args, "parley/cmd/gateway")...)
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

func TestAPlanIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, point := range fault.Points() {
		want := fault.Plan{Point: point, Pass: 3, Action: fault.Kill}
		got, err := fault.ParsePlan(want.String())
		if err != nil || got != want {
			t.Errorf("%q is read as %v, %v", want, got, err)
		}
	}
}

func TestAWrongPlanIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "after claim", "after claim:0:kill", "after claim:x:kill", "nowhere:1:kill", "after claim:1:wait", "after claim:1:kill:"} {
		if plan, err := fault.ParsePlan(text); err == nil {
			t.Errorf("%q was read as %v", text, plan)
		}
	}
}
