package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/cmd/gateway/datafolder"
)

func TestAWrongCommandLineSaysWhatWasMeant(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for line, want := range map[string]string{
		"sesions list": "did you mean `gateway sessions`?", "sessions lst": "did you mean `gateway sessions list`?", "frobnicate": "`gateway --help` lists",
		"run --liste x": "`gateway run --help` lists", "sessions show": "takes the id of one conversation", "run now": "unknown command", "migrate --from x": "required flag",
		"sessions list --all --state active": "none of the others can be", "schedules history": "accepts 1 arg",
	} {
		code, out, errs := m.does("", strings.Fields(line)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %d %q %q, want %q", line, code, out, errs, want)
		}
	}
	if code, _, errs := m.does("", "sessions", "show", "cli:none"); code != exitFailure {
		t.Errorf("what is not there is no mistake of the line: %d %s", code, errs)
	}
}

func TestVersionAndCompletion(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if code, out, _ := m.does("", "--version"); code != exitOK || out != "test\n" {
		t.Errorf("--version: %d %q", code, out)
	}
	if code, out, errs := m.does("", "completion", "bash"); code != exitOK || !strings.Contains(out, "__start_gateway") {
		t.Errorf("completion: %d %.80q %s", code, out, errs)
	}
}

func TestOneMessageAtTheCommandLine(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if code, out, errs := m.does("not read\n", "chat", "echo", "two\nlines"); code != exitOK || !strings.Contains(out, "two") || strings.Contains(out, "not read") {
		t.Errorf("%d %q %s", code, out, errs)
	}
}

func TestAClosedTerminalStopsTheGatewayInOrder(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	gateway, errs := m.process("run")
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	errs.see(t, "the gateway runs")
	if err := gateway.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Wait(); err != nil || !strings.Contains(errs.String(), "the gateway has stopped") {
		t.Errorf("%v: %s", err, errs)
	}
}

func TestNoSecretShowsInWhatIsRefused(t *testing.T) {
	t.Parallel()
	for value, name := range map[string]string{
		"redis:/:canary-pass@127.0.0.1": "REDIS_URL", "redis://:a?canary-pass@127.0.0.1": "REDIS_URL",
		"redis://user:x@canary-pass@127.0.0.1:99999/0": "REDIS_URL", "rediss:user:canary-pass@127.0.0.1": "REDIS_URL",
		"redis://127.0.0.1:canary-pass": "REDIS_URL", "redis://127.0.0.1/canary-pass": "REDIS_URL",
		"user:canary-pass@127.0.0.1:1/v1": "OPENAI_BASE_URL", "user:canary-pass@127.0.0.1": "ANTHROPIC_BASE_URL",
		"123456789:AAcanary-passAAAAAAAAAAAAAAAAAAAAAA": "GATEWAY_OWNERS",
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.env[name] = value
			for _, command := range []string{"config check", "config check --json", "config print", "sessions list", "run", "doctor", "doctor --json"} {
				if code, out, errs := m.does("", strings.Fields(command)...); strings.Contains(out+errs, "canary-pass") || code == exitOK {
					t.Errorf("%s: %d %s%s", command, code, out, errs)
				}
			}
		})
	}
}

func TestATokenThatSomebodyElseMayHavePlantedIsNotTaken(t *testing.T) {
	t.Parallel()
	planted := filepath.Join(t.TempDir(), "planted")
	if err := os.WriteFile(planted, []byte("a-token-of-another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	linked, open := t.TempDir(), t.TempDir()
	if err := os.Symlink(planted, filepath.Join(linked, datafolder.TokenFileName)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(open, datafolder.TokenFileName)
	if err := os.WriteFile(path, []byte("a-token-of-another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil { //nolint:gosec // what is tested
		t.Fatal(err)
	}
	for _, data := range []string{linked, open} {
		if token, err := datafolder.KeptToken(data); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("taken: %t, %v", !token.IsZero(), err)
		}
	}
}

func TestTheDataFolderIsItsUsersOnly(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if err := os.Chmod(data, 0o755); err != nil { //nolint:gosec // what is tested
		t.Fatal(err)
	}
	if err := datafolder.Make(data); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestMigrateReadsAddressesFromElsewhere(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.talks("here", "hello")
	m.env["OLD_STORE"] = sqliteAt(filepath.Join(m.data, "gateway.db"))
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte(sqliteAt(filepath.Join(t.TempDir(), "new.db"))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := m.did("", "migrate", "--from", "env:OLD_STORE", "--to", "file:"+target); !strings.Contains(out, "both stores hold the same") {
		t.Error(out)
	}
	if code, _, errs := m.does("", "migrate", "--from", "env:NOT_SET", "--to", "file:"+target); code != exitFailure || !strings.Contains(errs, "NOT_SET is not set") {
		t.Errorf("%d %s", code, errs)
	}
}
