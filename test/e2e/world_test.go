package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/api"
	"parley/test/fakeopenai"
	"parley/test/faketelegram"
	"parley/test/redistest"
)

// patience bounds every wait; nothing is judged by how long it took.
const patience = 60 * time.Second

var binary string // built once by TestMain

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "parley-e2e-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "gateway")
	build := exec.Command("go", "build", "-race", "-gcflags=modernc.org/...=-race=false", "-o", binary, "parley/cmd/gateway")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "the gateway does not build:", err)
		return 1
	}
	return m.Run()
}

// eachStore runs a test on both stores.
func eachStore(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	for _, store := range []string{"sqlite", "redis"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t, store))
		})
	}
}

const ownerID, guestID = 1001, 2002

// world is one bot on Telegram with its people, its model and its gateway.
type world struct {
	t        *testing.T
	ctx      context.Context
	telegram *faketelegram.Server
	model    *fakeopenai.Server
	owner    *faketelegram.User
	guest    *faketelegram.User
	env      map[string]string
	flags    []string // of gateway run
	secrets  []string // that no log may show
	gateway  *process
}

func newWorld(t *testing.T, store string) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx}
	w.telegram = faketelegram.New(t, faketelegram.Options{ReadAllGroupMessages: true})
	w.model = fakeopenai.Start(t, fakeopenai.Config{})
	w.secrets = []string{w.telegram.Token(), w.model.Key()}
	w.owner = w.telegram.User(ownerID, "Olga", "olga")
	w.guest = w.telegram.User(guestID, "Gus", "gus")
	w.env = map[string]string{
		"TELEGRAM_BOT_TOKEN": w.telegram.Token(), "TELEGRAM_API_URL": w.telegram.URL(),
		"OPENAI_API_KEY": w.model.Key(), "OPENAI_BASE_URL": w.model.URL(), "OPENAI_MODEL": fakeopenai.ModelDefault,
		"GATEWAY_OWNERS": fmt.Sprintf("telegram:%d", ownerID), "GATEWAY_DATA": t.TempDir(), "GATEWAY_LISTEN": "127.0.0.1:0",
	}
	if store == "redis" {
		w.env["REDIS_URL"] = redistest.Start(t).URL()
	}
	return w
}

// process is a running gateway.
type process struct {
	command *exec.Cmd
	log     *logBuffer
	exited  chan struct{}
}

// start starts the gateway and waits until it is ready.
func (w *world) start() {
	w.t.Helper()
	// What a killed one has left: its address may be another's by now.
	_ = os.Remove(filepath.Join(w.env["GATEWAY_DATA"], "gateway.json"))
	w.gateway = w.launch(append([]string{"run"}, w.flags...)...)
	w.eventually("the gateway is ready", func() bool { return w.ready() == http.StatusOK })
}

func (w *world) launch(args ...string) *process {
	w.t.Helper()
	p := &process{command: exec.Command(binary, args...), log: &logBuffer{}, exited: make(chan struct{})}
	p.command.Dir = w.t.TempDir()
	p.command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.command.Dir, "GORACE=halt_on_error=1"}
	for name, value := range w.env {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	p.command.Stdout, p.command.Stderr = p.log, p.log
	if err := p.command.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { _ = p.command.Wait(); close(p.exited) }()
	w.t.Cleanup(func() {
		p.end(syscall.SIGTERM, 30*time.Second)
		if strings.Contains(p.log.String(), "DATA RACE") {
			w.t.Error("the gateway has a data race")
		}
		for _, secret := range w.secrets {
			if strings.Contains(p.log.String(), secret) {
				w.t.Error("the log shows a secret")
			}
		}
		if w.t.Failed() {
			w.t.Logf("log of the gateway:\n%s", p.log.String())
		}
	})
	return p
}

// end sends a signal and waits; a process that stays is killed.
func (p *process) end(signal syscall.Signal, wait time.Duration) {
	_ = p.command.Process.Signal(signal)
	select {
	case <-p.exited:
	case <-time.After(wait):
		_ = p.command.Process.Kill()
		<-p.exited
	}
}

// kill9 ends the gateway as a power cut would.
func (w *world) kill9() { w.gateway.end(syscall.SIGKILL, patience) }

// stop asks the gateway to stop.
func (w *world) stop() { w.gateway.end(syscall.SIGTERM, patience) }

type logBuffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

// eventually waits until a condition holds, looking every 20 ms.
func (w *world) eventually(what string, holds func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("never happened: %s", what)
		}
	}
}

// runFile is what the running gateway leaves for its clients.
func (w *world) runFile() (address, token string) {
	raw, err := os.ReadFile(filepath.Join(w.env["GATEWAY_DATA"], "gateway.json"))
	if err != nil {
		return "", ""
	}
	var file struct{ Address, Token string }
	if json.Unmarshal(raw, &file) != nil {
		return "", ""
	}
	return file.Address, file.Token
}

func (w *world) ready() int {
	address, _ := w.runFile()
	if address == "" {
		return 0
	}
	response, err := http.Get(address + "/readyz")
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// part is what /readyz says of a part; the zero value where it says nothing.
func (w *world) part(name string) api.PartHealth {
	var readiness api.Readiness
	w.api(http.MethodGet, "/readyz", nil, &readiness)
	for _, part := range readiness.Parts {
		if part.Name == name {
			return part
		}
	}
	return api.PartHealth{}
}

// api calls the HTTP API as the owner and decodes the answer.
func (w *world) api(method, path string, body, into any) int {
	w.t.Helper()
	address, token := w.runFile()
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(w.ctx, method, address+path, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	if into != nil {
		if err := json.NewDecoder(response.Body).Decode(into); err != nil {
			w.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
	return response.StatusCode
}

// answer waits for a message of the bot in a chat that contains text.
func (w *world) answer(chat int64, text string) faketelegram.Sent {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	sent, err := w.telegram.WaitSent(ctx, chat, func(s faketelegram.Sent) bool { return strings.Contains(s.Text, text) })
	if err != nil {
		w.t.Fatalf("no answer with %q in chat %d; there are %v", text, chat, w.texts(chat))
	}
	return sent
}

func (w *world) texts(chat int64) []string {
	var out []string
	for _, sent := range w.telegram.Sent(chat) {
		out = append(out, sent.Text)
	}
	return out
}

// settled waits until the bot has taken in all that people wrote.
func (w *world) settled() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if err := w.telegram.WaitConfirmed(ctx); err != nil {
		w.t.Fatal("the bot does not confirm its updates: ", err)
	}
}

// asked are the requests the model got, oldest first.
func (w *world) asked() []fakeopenai.Request { return w.model.Requests() }

// lastAsked is the newest request, once there are n.
func (w *world) lastAsked(n int) fakeopenai.Request {
	w.t.Helper()
	w.eventually(fmt.Sprintf("the model is asked %d times", n), func() bool { return len(w.asked()) >= n })
	all := w.asked()
	return all[len(all)-1]
}

// read is what a request gives the model to read, without the system prompt.
func read(request fakeopenai.Request) []string {
	var out []string
	for _, m := range request.Messages {
		if m.Role != "system" {
			out = append(out, m.Role+": "+m.Text())
		}
	}
	return out
}

func (w *world) mustRead(request fakeopenai.Request, want ...string) {
	w.t.Helper()
	if got := read(request); !slices.Equal(got, want) {
		w.t.Fatalf("the model read\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// receipted waits until the receipts of n messages are stored: what was shown
// before may be sent again by whoever finds no receipt.
func (w *world) receipted(n int) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%d receipts are stored", n), func() bool {
		var found struct{ Sessions []struct{ ID string } }
		w.api(http.MethodGet, "/v1/sessions", nil, &found)
		receipts := 0
		for _, session := range found.Sessions {
			var page struct{ Entries []apiEntry }
			w.api(http.MethodGet, "/v1/sessions/"+url.PathEscape(session.ID)+"/entries", nil, &page)
			for _, entry := range page.Entries {
				if entry.Type == "delivery" {
					receipts++
				}
			}
		}
		return receipts >= n
	})
}

func itoa(n int64) string { return fmt.Sprint(n) }
