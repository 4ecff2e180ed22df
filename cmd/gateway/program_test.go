package main

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/adapters"
	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/datafolder"
	"parley/cmd/gateway/doctor"
	"parley/test/fakeopenai"
	"parley/test/faketelegram"
)

// patience bounds every wait and every command; nothing is judged by how long
// it took.
const patience = 5 * time.Minute

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	more chan struct{} // has a token after a write
	mu   sync.Mutex
	out  bytes.Buffer
}

func newBuffer() *buffer { return &buffer{more: make(chan struct{}, 1)} }

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.more <- struct{}{}:
	default:
	}
	return b.out.Write(p)
}

// see waits until text was written.
func (b *buffer) see(t *testing.T, text string) {
	t.Helper()
	late := time.After(patience)
	for !strings.Contains(b.String(), text) {
		select {
		case <-b.more:
		case <-late:
			t.Fatalf("%q was never written: %s", text, b)
		}
	}
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

// machine is a computer with one data folder, on which commands are run.
type machine struct {
	t    *testing.T
	data string
	dir  string // where commands are run; empty: nowhere that has a name
	env  map[string]string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	return &machine{t: t, data: data, env: map[string]string{
		"GATEWAY_DATA": data, "GATEWAY_LISTEN": "127.0.0.1:0",
	}}
}

// program is one command line on the machine. File is what gateway.yaml holds.
func (m *machine) program(stdin string) (p *program, out, errs *buffer) {
	vars := maps.Clone(m.env)
	out, errs = newBuffer(), newBuffer()
	return &program{Env: &cli.Env{
		In: strings.NewReader(stdin), Out: out, Err: errs, Dir: m.dir, Version: "test",
		Lookup: func(name string) (string, bool) {
			value, set := vars[name]
			return value, set
		},
	}}, out, errs
}

// does runs one command to its end.
func (m *machine) does(stdin string, args ...string) (code int, out, errs string) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	p, o, e := m.program(stdin)
	code = p.main(ctx, args)
	return code, o.String(), e.String()
}

func (m *machine) file(text string) string {
	m.t.Helper()
	path := filepath.Join(m.t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return path
}

// running is a gateway that was started with `run`.
type running struct {
	address string
	log     *buffer
	stop    func() (code int, log string)
}

func (m *machine) runs(args ...string) running {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	p, out, errs := m.program("")
	started := make(chan string, 1)
	p.started = func(g *gateway) { started <- g.address() }
	code := make(chan int, 1)
	go func() { code <- p.main(ctx, append([]string{"run"}, args...)) }()
	var once sync.Once
	result := 0
	stop := func() (int, string) {
		once.Do(func() { cancel(); result = <-code })
		return result, out.String() + errs.String()
	}
	m.t.Cleanup(func() { stop() })
	select {
	case address := <-started:
		return running{address, errs, stop}
	case result = <-code:
		once.Do(cancel)
		m.t.Fatalf("run ended with %d: %s", result, errs)
	}
	return running{}
}

func get(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestRunningGateway(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	g := m.runs()
	if status := get(t, g.address+"/healthz"); status != http.StatusOK {
		t.Errorf("healthz: %d", status)
	}
	path := filepath.Join(m.data, datafolder.RunFileName)
	file, found, err := datafolder.ReadRunFile(m.data)
	info, statErr := os.Stat(path)
	if err != nil || !found || statErr != nil || info.Mode().Perm() != 0o600 || file.Address != g.address || file.PID != os.Getpid() {
		t.Fatalf("the run file: %v, %v, %v", file, info, err)
	}

	code, _, errs := m.does("", "run")
	oneLine(t, code, errs, "stop the other gateway")
	if again, _, _ := datafolder.ReadRunFile(m.data); again != file {
		t.Error("the second gateway touched the first one's file")
	}
	if code, out, errs := m.does("hello\n", "chat"); code != exitOK || strings.TrimSpace(out) == "" {
		t.Errorf("chat through the running gateway: %d, %q, %q", code, out, errs)
	}
	if code, out, errs := m.does("", "health"); code != exitOK || !strings.HasPrefix(out, "ready: "+g.address) {
		t.Errorf("health: %d, %q, %q", code, out, errs)
	}
	if code, out, errs := m.does("", "deadletter", "list"); code != exitOK || out != "no dead letters\n" {
		t.Errorf("deadletter list through the running gateway: %d, %q, %q", code, out, errs)
	}
	if level := m.diagnosed("store"); level != adapters.LevelOK {
		t.Errorf("doctor finds the store %s", level)
	}

	code, log := g.stop()
	if code != exitOK || !strings.Contains(log, "the gateway has stopped") || strings.Contains(log, file.Token) {
		t.Errorf("stopped with %d: %s", code, log)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the run file is still there: %v", err)
	}
	if code, out, errs := m.does("", "deadletter", "list"); code != exitOK || out != "no dead letters\n" {
		t.Errorf("deadletter list: %d, %q, %q", code, out, errs)
	}
	code, _, errs = m.does("", "deadletter", "replay", "nope")
	oneLine(t, code, errs, "deadletter list")
	code, _, errs = m.does("", "health")
	oneLine(t, code, errs, "gateway run")
}

// diagnosed is the worst level the doctor gives a part.
func (m *machine) diagnosed(part string) adapters.Level {
	m.t.Helper()
	_, out, _ := m.does("", "doctor", "--json")
	var checks []doctor.Check
	if err := json.Unmarshal([]byte(out), &checks); err != nil {
		m.t.Fatalf("%q: %v", out, err)
	}
	for _, level := range []adapters.Level{adapters.LevelProblem, adapters.LevelUnchecked, adapters.LevelWarning, adapters.LevelOK, adapters.LevelOff} {
		for _, c := range checks {
			if c.Part == part && c.Level == level {
				return level
			}
		}
	}
	return ""
}

func oneLine(t *testing.T, code int, errs, want string) {
	t.Helper()
	if code == exitOK || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "gateway: ") || !strings.Contains(errs, want) {
		t.Errorf("exit code %d, want one line with %q: %q", code, want, errs)
	}
}

func TestChatStartsAGatewayAndGoesOn(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	var seqs []int64
	for range 2 {
		code, out, errs := m.does("hello\n", "chat", "--json")
		if code != exitOK {
			t.Fatalf("%d: %q %q", code, out, errs)
		}
		var entry struct{ Seq int64 }
		if err := json.Unmarshal([]byte(out), &entry); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		seqs = append(seqs, entry.Seq)
	}
	if seqs[1] <= seqs[0] {
		t.Errorf("the second chat began anew: %v", seqs)
	}
	if _, found, _ := datafolder.ReadRunFile(m.data); found {
		t.Error("a chat's own gateway must not offer itself to others")
	}
	if code, _, errs := m.does("", "chat", "--session", "a/b"); code != exitFailure || !strings.Contains(errs, "name of a conversation") {
		t.Errorf("%d, %q", code, errs)
	}
	if _, out, _ := m.does("/whoami\n", "chat", "--session", "other"); !strings.Contains(out, "cli:local:other") {
		t.Errorf("another conversation: %q", out)
	}
}

func TestChatWithAGatewayElsewhere(t *testing.T) {
	t.Parallel()
	m, other := newMachine(t), newMachine(t)
	m.env["GATEWAY_TOKEN"] = "canary-token"
	g := m.runs()
	if code, out, errs := other.does("hello\n", "chat", "--url", g.address, "--token-file", m.file("canary-token\n")); code != exitOK || out == "" {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	code, _, errs := other.does("hello\n", "chat", "--url", g.address, "--token-file", m.file("wrong"))
	oneLine(t, code, errs, "oken")
}

func TestFailuresAreOneLine(t *testing.T) {
	t.Parallel()
	var listening net.ListenConfig
	taken, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		file string
		env  map[string]string
		want string
	}{
		"unknown key":       {file: "http: {lisen: x}\n", want: `did you mean "listen"?`},
		"malformed":         {file: "http: {\n", want: "not valid YAML"},
		"unreachable store": {env: map[string]string{"REDIS_URL": "redis://:canary-pass@127.0.0.1:1/0"}, want: "REDIS_URL"},
		"port in use":       {env: map[string]string{"GATEWAY_LISTEN": taken.Addr().String()}, want: "GATEWAY_LISTEN"},
		"open to all":       {env: map[string]string{"GATEWAY_LISTEN": ":0"}, want: "GATEWAY_TOKEN"},
		"data is a file":    {env: map[string]string{"GATEWAY_DATA": blocked}, want: "GATEWAY_DATA"},
		"data below a file": {env: map[string]string{"GATEWAY_DATA": filepath.Join(blocked, "x")}, want: "GATEWAY_DATA"},
		"bad token":         {env: map[string]string{"TELEGRAM_BOT_TOKEN": "canary-pass"}, want: "@BotFather"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			maps.Copy(m.env, tt.env)
			code, out, errs := m.does("", "run", "--config", m.file(tt.file))
			oneLine(t, code, errs, tt.want)
			if strings.Contains(out+errs, "canary-pass") {
				t.Errorf("a secret shows: %q", errs)
			}
			if _, found, _ := datafolder.ReadRunFile(m.data); found {
				t.Error("something is half started")
			}
			m.env = newMachine(t).env
			m.env["GATEWAY_DATA"] = m.data
			if name == "port in use" {
				m.runs() // the store was given back
			}
		})
	}
}

func TestLeftoversOfAKilledGatewayAreNoHindrance(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if err := datafolder.Make(m.data); err != nil {
		t.Fatal(err)
	}
	if err := datafolder.WriteRunFile(m.data, datafolder.RunFile{Address: "http://127.0.0.1:1", Token: "x", PID: 1}); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := m.does("hello\n", "chat"); code != exitOK || out == "" {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	m.runs()
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if code, out, _ := m.does("", "doctor"); code != exitOK || strings.Contains(out, "✗") || !strings.Contains(out, "– model") {
		t.Errorf("nothing configured: %d\n%s", code, out)
	}
	if _, err := os.Stat(m.data); !os.IsNotExist(err) {
		t.Error("the doctor must leave nothing behind")
	}
	m.env["OPENAI_BASE_URL"] = "http://127.0.0.1:1/v1"
	m.env["OPENAI_API_KEY"] = "canary-key"
	code, out, _ := m.does("", "doctor")
	if code != exitFailure || !strings.Contains(out, "✗ model") || strings.Contains(out, "canary-key") {
		t.Errorf("a model that is away: %d\n%s", code, out)
	}
	m.env["GATEWAY_ACCESS_DM"] = "some"
	if level := m.diagnosed("config"); level != adapters.LevelProblem {
		t.Errorf("a bad configuration: %s", level)
	}
}

// What the gateway could not make, the doctor does not promise; and what it
// advises is about the store there is.
func TestDoctorOnAFolderThatCannotBe(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env["GATEWAY_DATA"] = "/dev/fd/parley/data" // where not even root makes a folder
	if level := m.diagnosed("data"); level != adapters.LevelProblem {
		t.Errorf("a folder that cannot be made: %s", level)
	}
	if err := os.MkdirAll(m.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.data, "gateway.db"), []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	m.env["GATEWAY_DATA"] = m.data
	code, out, _ := m.does("", "doctor")
	if code != exitFailure || !strings.Contains(out, "✗ store") || !strings.Contains(out, "GATEWAY_DATA") || strings.Contains(out, "REDIS_URL") {
		t.Errorf("a damaged file: %d\n%s", code, out)
	}
}

func TestConfigCommands(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	file := m.file("http: {token: canary-pass}\nzebra: 1\nlion: 2\n")
	code, _, errs := m.does("", "config", "check", "--config", file)
	if code != exitFailure || !strings.Contains(errs, ":2:1: zebra") || !strings.Contains(errs, ":3:1: lion") {
		t.Errorf("check must list all: %d, %q", code, errs)
	}
	file = m.file("http: {token: canary-pass}\n")
	for _, args := range [][]string{{"config", "print"}, {"config", "print", "--json"}} {
		code, out, _ := m.does("", append(args, "--config", file)...)
		if code != exitOK || strings.Contains(out, "canary-pass") || !strings.Contains(out, "***") {
			t.Errorf("%v: %d, %q", args, code, out)
		}
	}
	code, out, _ := m.does("", "config", "schema")
	if code != exitOK || !json.Valid([]byte(out)) {
		t.Errorf("schema: %d, %q", code, out)
	}
	if code, out, _ := m.does("", "version"); code != exitOK || out != "test\n" {
		t.Errorf("version: %d, %q", code, out)
	}
	for _, args := range [][]string{{"nope"}, {"run", "--nope"}} {
		code, _, errs := m.does("", args...)
		oneLine(t, code, errs, "--help")
	}
}

func TestDoctorAndStartTellOfADeafTelegramBot(t *testing.T) {
	t.Parallel()
	telegram := faketelegram.New(t, faketelegram.Options{})
	model, err := fakeopenai.New(fakeopenai.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	m := newMachine(t)
	m.env["TELEGRAM_API_URL"], m.env["TELEGRAM_BOT_TOKEN"] = telegram.URL(), telegram.Token()
	m.env["OPENAI_BASE_URL"], m.env["OPENAI_API_KEY"], m.env["OPENAI_MODEL"] = model.URL(), model.Key(), fakeopenai.ModelDefault
	for part, want := range map[string]adapters.Level{"model": adapters.LevelOK, "telegram": adapters.LevelWarning, "access": adapters.LevelWarning} {
		if level := m.diagnosed(part); level != want {
			t.Errorf("%s: %s, want %s", part, level, want)
		}
	}
	m.env["GATEWAY_OWNERS"] = "telegram:500"
	g := m.runs()
	owner := telegram.User(500, "Ada", "ada")
	owner.Send(owner.DM(), "hello")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := telegram.WaitSent(ctx, 500, func(sent faketelegram.Sent) bool { return strings.Contains(sent.Text, "You said: hello") }); err != nil {
		t.Error(err)
	}
	g.log.see(t, "privacy mode is on")
	code, log := g.stop()
	if code != exitOK || strings.Contains(log, telegram.Token()) || strings.Contains(log, model.Key()) {
		t.Errorf("%d: %s", code, log)
	}
	m.env["TELEGRAM_BOT_TOKEN"] = "78:wrong-token"
	if level := m.diagnosed("telegram"); level != adapters.LevelProblem {
		t.Errorf("a refused token: %s", level)
	}
}

func TestWelcomeSaysWhereToGo(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{"": "Chat page  http://127.0.0.1:", "canary-token": "/login?code="} {
		m := newMachine(t)
		m.env["GATEWAY_TOKEN"] = token
		p, out, _ := m.program("")
		loaded, err := p.Load(&cli.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		g, err := openGateway(t.Context(), setup{config: loaded.Config, version: "test", log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		p.welcome(g)
		if err := g.close(); err != nil {
			t.Error(err)
		}
		shown := out.String()
		if !strings.Contains(shown, want) || !strings.Contains(shown, "TELEGRAM_BOT_TOKEN") || !strings.Contains(shown, "OPENAI_API_KEY") || strings.Contains(shown, "canary") {
			t.Errorf("got %s", shown)
		}
	}
}
