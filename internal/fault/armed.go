//go:build faults

package fault

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// armed is the plan of this process and how often its point was passed.
type armed struct {
	plan   Plan
	passes atomic.Int64
}

// fromEnvironment reads the plan once. A plan that cannot be read ends the
// process: a test that believes it is armed would prove nothing.
var fromEnvironment = sync.OnceValue(func() *armed { //nolint:gochecknoglobals // one process has one plan, and only builds for tests have this file
	text := os.Getenv(Variable)
	if text == "" {
		return nil
	}
	plan, err := ParsePlan(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fault:", err)
		os.Exit(2)
	}
	return &armed{plan: plan}
})

// Here acts if the plan says so, else returns at once. After a kill it never
// returns.
func Here(point Point) {
	a := fromEnvironment()
	if a == nil || a.plan.Point != point || a.passes.Add(1) != a.plan.Pass {
		return
	}
	fmt.Fprintln(os.Stderr, "fault:", a.plan)
	if a.plan.Action == Stop {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
