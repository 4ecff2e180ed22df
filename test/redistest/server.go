package redistest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"parley/test/freeze"
)

// Times a server gets.
const (
	startWithin = time.Minute
	stopWithin  = time.Minute
	askEvery    = 10 * time.Millisecond
)

// startTries: a free port may be taken by another between finding and using it.
const startTries = 5

// Available is nil if there is a redis-server to run, else says how to get one.
func Available() error {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return errors.New("redis-server is missing: apt-get install redis-server (`make test` does so as root on Debian)")
	}
	return nil
}

// Need skips the test if there is no redis-server, or fails it where CI=true.
func Need(tb testing.TB) {
	tb.Helper()
	if err := Available(); err != nil {
		skip(tb, err)
	}
}

func skip(tb testing.TB, why error) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatal(why)
	}
	tb.Skip(why)
}

// Server is a running redis-server.
type Server struct {
	port     int
	busPort  int // of a cluster's node; else 0
	dir      string
	settings []string
	config   string      // of a sentinel: its file; else empty
	secured  *tls.Config // by which its clients know it; nil: it speaks no TLS

	mu      sync.Mutex
	master  string // host:port of whom it follows from its next start on; empty: nobody
	process *exec.Cmd
	guard   *exec.Cmd // ends the process if the test process dies
	exited  chan struct{}
}

// New starts a server with settings such as "--appendfsync", "always". It
// keeps an append-only file. Close ends it.
func New(settings ...string) (*Server, error) {
	return start(false, settings)
}

// Start is New for a test, which ends the server in its clean-up.
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	Need(tb)
	s, err := New(settings...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

func start(cluster bool, settings []string) (*Server, error) {
	return started(func() (*Server, error) { return prepare(cluster, settings) })
}

// started starts a server that was prepared, with another port each time.
func started(prepared func() (*Server, error)) (*Server, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	var failure error
	for range startTries {
		s, err := prepared()
		if err != nil {
			return nil, err
		}
		if failure = s.Restart(); failure == nil {
			return s, nil
		}
		s.Close()
	}
	return nil, failure
}

func prepare(cluster bool, settings []string) (*Server, error) {
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, settings: settings}
	if s.port, err = freePort(); err == nil && cluster {
		s.busPort, err = freePort()
	}
	return s, err
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Addr is host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Save copies the server's files into a new folder, for whoever looks for the
// cause of a failure.
func (s *Server) Save(folder string) error { return os.CopyFS(folder, os.DirFS(s.dir)) }

// URL is the server's redis:// URL.
func (s *Server) URL() string {
	if s.secured != nil {
		return "rediss://" + s.Addr()
	}
	return "redis://" + s.Addr()
}

// Client is a plain client for looking behind the store's back.
func (s *Server) Client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: s.Addr(), TLSConfig: s.secured, MaxRetries: -1, DialTimeout: time.Second,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
}

func (s *Server) args() []string {
	if s.config != "" {
		return []string{s.config, "--sentinel"}
	}
	port := "--port"
	if s.secured != nil {
		port = "--tls-port"
	}
	args := []string{"--port", "0", port, strconv.Itoa(s.port), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "",
		"--appendonly", "yes", "--daemonize", "no"}
	if s.busPort != 0 {
		args = append(args, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(s.busPort), "--cluster-node-timeout", "2000")
	}
	if host, port, err := net.SplitHostPort(s.master); err == nil {
		args = append(args, "--replicaof", host, port)
	}
	return append(args, s.settings...)
}

// Restart starts a server that was stopped or killed, with its data, and waits
// until it answers.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mend(); err != nil {
		return err
	}
	s.process = exec.Command("redis-server", s.args()...)
	if err := s.process.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	s.exited = exited
	go func(process *exec.Cmd) { // ends with the process
		_ = process.Wait()
		close(exited)
	}(s.process)
	if err := s.watch(); err != nil {
		return err
	}
	return s.answer()
}

// mend cuts off what a kill left unfinished at the end of the append-only file,
// as an operator should before a start: the server itself leaves the beginning
// of a transaction there, and carries it out at the start after the next.
func (s *Server) mend() error {
	manifest := filepath.Join(s.dir, "appendonlydir", "appendonly.aof.manifest")
	tool, err := exec.LookPath("redis-check-aof")
	if _, missing := os.Stat(manifest); missing != nil || err != nil {
		return nil //nolint:nilerr // nothing to mend, or nothing to do it with
	}
	command := exec.Command(tool, "--fix", manifest)
	command.Stdin = strings.NewReader("y\n")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("redis-check-aof: %w\n%s", err, out)
	}
	return nil
}

// watch starts the guard: its input ends when the test process does.
func (s *Server) watch() error {
	s.guard = exec.Command("sh", "-c", "cat >/dev/null; kill -9 "+strconv.Itoa(s.process.Process.Pid))
	if _, err := s.guard.StdinPipe(); err != nil {
		return err
	}
	return s.guard.Start()
}

func (s *Server) answer() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	client := s.Client()
	defer client.Close()
	return until(ctx, func() error {
		select {
		case <-s.exited:
			return fmt.Errorf("redis-server on port %d ended: %s", s.port, s.process.ProcessState)
		default:
		}
		return client.Ping(ctx).Err()
	})
}

// followAtStart makes the server the replica of whoever answers at an address
// whenever it starts; empty: of nobody.
func (s *Server) followAtStart(master string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.master = master
}

// follow does that, and at once.
func (s *Server) follow(ctx context.Context, master string) error {
	s.followAtStart(master)
	host, port, err := net.SplitHostPort(master)
	if err != nil {
		return err
	}
	client := s.Client()
	defer client.Close()
	return client.ReplicaOf(ctx, host, port).Err()
}

// until repeats ask until it succeeds or ctx ends.
func until(ctx context.Context, ask func() error) error {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	var last error // that ctx was not the reason of
	for {
		err := ask()
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain: %w", last)
		}
	}
}

// Stop ends the server as an operator does: it writes everything first.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

// Kill ends the server as kill -9 does.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Pause freezes the server: it keeps its connections and answers nothing.
func (s *Server) Pause() { s.with(freeze.Stop) }

// Resume lets a frozen server go on.
func (s *Server) Resume() { s.with(freeze.Continue) }

func (s *Server) with(do func(*os.Process)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil && s.process.Process != nil {
		do(s.process.Process)
	}
}

func (s *Server) end(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || s.process.Process == nil || s.exited == nil {
		return
	}
	if s.guard != nil && s.guard.Process != nil {
		_ = s.guard.Process.Kill()
		_ = s.guard.Wait()
		s.guard = nil
	}
	freeze.Continue(s.process.Process)
	_ = s.process.Process.Signal(sig)
	select {
	case <-s.exited:
	case <-time.After(stopWithin):
		_ = s.process.Process.Kill()
		<-s.exited
	}
}

// Close ends the server and removes its data.
func (s *Server) Close() {
	s.Kill()
	_ = os.RemoveAll(s.dir)
}
