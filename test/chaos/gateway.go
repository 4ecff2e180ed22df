package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"parley/internal/fault"
	"parley/test/freeze"
)

// slot is one replica's place: its folder, and the lives it has had. Its
// methods are called by one goroutine, but for those of lives.
type slot struct {
	name   string
	world  *world
	folder string
	births int
	clock  time.Duration // how far its wall clock is off
	life   *life
}

// life is one gateway process, from its start to its end.
type life struct {
	name    string
	command *exec.Cmd
	log     *os.File
	exited  chan struct{} // closed when the process is gone

	mu      sync.Mutex
	doomed  bool // it is meant to end
	stopped time.Time
	ended   time.Time // when it was killed, or found gone
}

// stopWithin bounds a clean stop.
const stopWithin = 40 * time.Second

// start starts the slot's next life. plan may be nil. It has the slot's clock.
func (s *slot) start(plan *fault.Plan) error {
	s.births++
	name := fmt.Sprintf("%s%d", s.name, s.births)
	// What the last life left of itself leads to whoever has its port now.
	if err := os.Remove(filepath.Join(s.folder, placeFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	log, err := os.Create(filepath.Join(s.folder, name+".log"))
	if err != nil {
		return err
	}
	l := &life{name: name, log: log, exited: make(chan struct{}), doomed: plan != nil && plan.Action == fault.Kill}
	l.command = exec.Command(s.world.binary, "run")
	l.command.Dir, l.command.Stdout, l.command.Stderr = s.folder, log, log
	l.command.Env = environ(s.environment(name, plan))
	bindToParent(l.command)
	if err := l.command.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	s.life = l
	s.world.lives.Go(func() { s.world.await(l) })
	return nil
}

func (s *slot) environment(life string, plan *fault.Plan) map[string]string {
	w := s.world
	env := w.backend.environment()
	for _, p := range w.platforms {
		maps.Copy(env, p.environment(w.door.via(life, p.name)))
	}
	maps.Copy(env, map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": s.folder, "GATEWAY_DATA": s.folder, "GATEWAY_LISTEN": "127.0.0.1:0",
		"GATEWAY_ACCESS_DM": "anyone", "GATEWAY_ACCESS_GROUPS": "anyone",
		"OPENAI_API_KEY": w.model.Key(), "OPENAI_BASE_URL": w.door.via(life, modelTarget) + "/v1", "OPENAI_MODEL": modelName,
	})
	if w.besieged {
		siegeEnvironment(env)
	}
	if plan != nil {
		env[fault.Variable] = plan.String()
	}
	if s.clock != 0 {
		env[clockVariable] = s.clock.String()
	}
	return env
}

func environ(variables map[string]string) []string {
	var out []string
	for name, value := range variables {
		out = append(out, name+"="+value)
	}
	return out
}

// await waits for a process to go, and says so if it was not meant to.
func (w *world) await(l *life) {
	err := l.command.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = time.Now()
	killed := l.command.ProcessState != nil && strings.Contains(l.command.ProcessState.String(), "killed")
	if meant := l.doomed && (killed || err == nil); !meant && !w.closing() {
		w.ledger.problem(fmt.Sprintf("gateway %s ended by itself: %v; see %s", l.name, err, l.log.Name()))
	}
	if killed {
		w.ledger.disrupted(span{what: "killed", life: l.name, from: l.ended.Add(-diedBefore), to: l.ended})
	}
	l.log.Close()
	close(l.exited)
}

// diedBefore is how long before its end was noticed a process may have died.
const diedBefore = 100 * time.Millisecond

func (l *life) doom() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doomed = true
}

func (l *life) gone() bool {
	select {
	case <-l.exited:
		return true
	default:
		return false
	}
}

// kill is kill -9. It returns when the process is gone.
func (l *life) kill() {
	l.doom()
	_ = l.command.Process.Kill()
	<-l.exited
}

// runsWithin bounds the start of a process.
const runsWithin = 2 * time.Minute

// awaitRunning waits until the process says that it runs: before that, a
// signal ends it as it ends any program.
func (l *life) awaitRunning() {
	ctx, cancel := context.WithTimeout(context.Background(), runsWithin)
	defer cancel()
	for ctx.Err() == nil && !l.gone() {
		if said, err := os.ReadFile(l.log.Name()); err == nil && strings.Contains(string(said), "the gateway runs") {
			return
		}
		_ = pause(ctx, 20*time.Millisecond)
	}
}

// stop asks the process to end, and kills it if it does not.
func (l *life) stop() error {
	l.awaitRunning()
	l.doom()
	_ = l.command.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	select {
	case <-l.exited:
		return nil
	case <-timer.C:
		l.kill()
		return fmt.Errorf("gateway %s did not stop within %s; see %s", l.name, stopWithin, l.log.Name())
	}
}

// freeze stops the process as a debugger does; thaw lets it go on.
func (l *life) freeze() {
	l.mu.Lock()
	l.stopped = time.Now()
	l.mu.Unlock()
	freeze.Stop(l.command.Process)
}

// noteFrozen notes when a process that stopped itself was first seen so.
func (l *life) noteFrozen() {
	if !l.frozen() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped.IsZero() {
		l.stopped = time.Now().Add(-frozenBefore)
	}
}

// frozenBefore is how long before it was noticed a process may have stopped.
const frozenBefore = 50 * time.Millisecond

func (l *life) thaw(ledger *ledger) {
	l.mu.Lock()
	from := l.stopped
	l.stopped = time.Time{}
	l.mu.Unlock()
	freeze.Continue(l.command.Process)
	ledger.disrupted(span{what: "stopped", life: l.name, from: from, to: time.Now()})
}

// frozen reports whether a process has stopped itself.
func (l *life) frozen() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", l.command.Process.Pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "T")
}

// pause waits, or reports that ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
