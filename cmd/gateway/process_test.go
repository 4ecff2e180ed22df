package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/cmd/gateway/datafolder"

	"go.uber.org/goleak"
)

// asProgram makes the test binary be the gateway.
const asProgram = "GATEWAY_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

// process is the gateway as a process of its own, which inherits nothing of
// the environment.
func (m *machine) process(args ...string) (command *exec.Cmd, errs *buffer) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	m.t.Cleanup(cancel)
	command, errs = exec.CommandContext(ctx, os.Args[0], args...), newBuffer()
	command.Env = []string{asProgram + "=1"}
	for name, value := range m.env {
		command.Env = append(command.Env, name+"="+value)
	}
	command.Dir, command.Stderr = m.t.TempDir(), errs
	return command, errs
}

func TestUnreachableStoreIsOneLineOfTheWholeProcess(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env["REDIS_URL"] = "redis://127.0.0.1:1/0"
	command, errs := m.process("run")
	var exit *exec.ExitError
	if err := command.Run(); !errors.As(err, &exit) {
		t.Fatalf("it must fail: %v", err)
	}
	oneLine(t, exit.ExitCode(), errs.String(), "REDIS_URL")
}

func TestAChatInAPipeKnowsItsDirectory(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	chat, errs := m.process("chat", "--session", "work")
	chat.Stdin = strings.NewReader("hello\n")
	if err := chat.Run(); err != nil {
		t.Fatalf("%v, %s", err, errs)
	}
	next, errs := m.process("chat", "--continue")
	next.Dir, next.Stdin = chat.Dir, strings.NewReader("/whoami\n")
	if out, err := next.Output(); err != nil || !strings.Contains(string(out), "cli:local:work") {
		t.Errorf("it goes on elsewhere: %s, %v, %s", out, err, errs)
	}
}

func TestSignalsAndKills(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	killed, errs := m.process("run")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	errs.see(t, "the gateway runs")
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it was killed
	if _, found, _ := datafolder.ReadRunFile(m.data); !found {
		t.Fatal("a killed gateway cannot have removed its file")
	}

	next, errs := m.process("run")
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	errs.see(t, "the gateway runs")
	file, _, err := datafolder.ReadRunFile(m.data)
	if err != nil || get(t, file.Address+"/healthz") != http.StatusOK {
		t.Fatalf("it does not serve: %v, %v", file, err)
	}
	if err := next.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := next.Wait(); err != nil {
		t.Errorf("a stop that was asked for is no failure: %v, %s", err, errs)
	}
	if _, err := os.Stat(filepath.Join(m.data, datafolder.RunFileName)); !os.IsNotExist(err) {
		t.Errorf("the run file is still there: %v", err)
	}
	var line map[string]any
	decoder := json.NewDecoder(&errs.out)
	for decoder.More() {
		if err := decoder.Decode(&line); err != nil {
			t.Fatalf("a log that is not read by people must be JSON: %v", err)
		}
	}
}
