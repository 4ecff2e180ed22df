package deploy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait; nothing is judged by how long it took.
const patience = time.Minute

// gateway is a running one.
type gateway struct {
	t       *testing.T
	command *exec.Cmd
	log     *buffer
	exited  chan struct{}
	data    string // its data folder, as seen from here
	address string
	token   string
}

// buffer is what a process writes.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write takes a piece.
func (b *buffer) Write(piece []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(piece)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// launch starts the gateway and waits until it is ready. An error is the
// system's refusal to start it at all.
func launch(t *testing.T, command *exec.Cmd, data string) (*gateway, error) {
	t.Helper()
	g := &gateway{t: t, command: command, log: &buffer{}, exited: make(chan struct{}), data: data}
	command.Stdout, command.Stderr = g.log, g.log
	if err := command.Start(); err != nil {
		return nil, err
	}
	go func() { _ = command.Wait(); close(g.exited) }()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-g.exited
		if t.Failed() {
			t.Logf("log of the gateway:\n%s", g.log)
		}
	})
	g.eventually("it says where it listens", g.find)
	g.eventually("it is ready", func() bool { status, _ := g.get("/readyz"); return status == http.StatusOK })
	return g, nil
}

func (g *gateway) find() bool {
	content, err := os.ReadFile(filepath.Join(g.data, "gateway.json"))
	if err != nil {
		return false
	}
	var file struct{ Address, Token string }
	if err := json.Unmarshal(content, &file); err != nil {
		g.t.Fatal(err)
	}
	g.address, g.token = file.Address, file.Token
	return true
}

func (g *gateway) eventually(what string, holds func() bool) {
	g.t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for late := time.After(patience); !holds(); {
		select {
		case <-ticker.C:
		case <-g.exited:
			g.t.Fatalf("the gateway ended before %s:\n%s", what, g.log)
		case <-late:
			g.t.Fatalf("in vain: %s", what)
		}
	}
}

func (g *gateway) get(path string) (int, string) {
	return g.ask("GET", path, "")
}

func (g *gateway) ask(method, path, body string) (int, string) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, g.address+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+g.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// stop ends it as an orchestrator does.
func (g *gateway) stop() {
	g.t.Helper()
	if err := g.command.Process.Signal(syscall.SIGTERM); err != nil {
		g.t.Fatal(err)
	}
	select {
	case <-g.exited:
	case <-time.After(patience):
		g.t.Fatal("it does not stop")
	}
	if code := g.command.ProcessState.ExitCode(); code != 0 {
		g.t.Errorf("a stop ended with %d:\n%s", code, g.log)
	}
}

// environment is exactly what is given, and nothing of the machine's.
func environment(pairs map[string]string) []string {
	out := make([]string, 0, len(pairs))
	for name, value := range pairs {
		out = append(out, fmt.Sprintf("%s=%s", name, value))
	}
	return out
}
