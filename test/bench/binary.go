package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"parley/test/fakeopenai"
	"parley/test/redistest"
)

const (
	// quietFor is how long the idle gateway is left alone before its memory is read.
	quietFor = 3 * time.Second
	// thinkFor is how long the model takes while 200 sessions live, so that all
	// of them have a running turn.
	thinkFor    = 300 * time.Millisecond
	sampleEvery = 50 * time.Millisecond
	pollEvery   = time.Millisecond
	endWithin   = 30 * time.Second
)

// binary measures the program as it is released: how soon it is ready, and
// what memory it takes. It needs the go command, and Linux for the memory.
func (r *runner) binary(ctx context.Context) error {
	if r.sizes.starts == 0 || !r.wants(partBinary) {
		return nil
	}
	path, err := r.built(ctx)
	if err != nil {
		return err
	}
	for _, name := range r.backends {
		if name == redisName+"always" { // the same program on the same store
			continue
		}
		r.say("binary: %s", name)
		if err := r.released(ctx, path, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// built is the path of the built program. The runner removes it at its end.
func (r *runner) built(ctx context.Context) (string, error) {
	if r.program != "" {
		return r.program, nil
	}
	folder, err := os.MkdirTemp("", "bench-binary-")
	if err != nil {
		return "", err
	}
	r.say("building the gateway")
	path := filepath.Join(folder, "gateway")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "parley/cmd/gateway")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("go build: %w\n%s", err, out), os.RemoveAll(folder))
	}
	r.program = path
	return path, nil
}

// remove removes the built program, if there is one.
func (r *runner) remove() {
	if r.program != "" {
		_ = os.RemoveAll(filepath.Dir(r.program)) // it is in a folder for temporary files
	}
}

func (r *runner) released(ctx context.Context, path, name string) error {
	s, err := newScene(r.sizes.chats, thinkFor)
	if err != nil {
		return err
	}
	defer s.close()
	var starts []float64
	for range r.sizes.starts {
		p, err := s.launch(ctx, path, name)
		if err != nil {
			return err
		}
		starts = append(starts, millis(p.ready))
		if err := p.end(); err != nil {
			return err
		}
	}
	r.add(newFigure(name, measureStart, median(starts), noRaw()))
	p, err := s.launch(ctx, path, name)
	if err != nil {
		return err
	}
	return errors.Join(r.resident(ctx, name, s, p), p.end())
}

// resident measures memory: at rest, and while every chat has a turn running.
func (r *runner) resident(ctx context.Context, name string, s *scene, p *process) error {
	if err := pause(ctx, quietFor); err != nil {
		return err
	}
	idle, err := p.memory()
	if err != nil {
		return err
	}
	live, err := s.busiest(ctx, r.sizes.liveRounds, p)
	if err != nil {
		return err
	}
	r.add(newFigure(name, measureIdleRSS, idle, noRaw()), newFigure(name, measureLiveRSS, live, noRaw()))
	return nil
}

// process is a running gateway.
type process struct {
	command *exec.Cmd
	exited  chan error
	ready   time.Duration // from its start until it said that it is ready
	log     *os.File
	folder  string            // removed with it
	data    string            // the gateway's data folder
	redis   string            // URL; empty: SQLite
	server  *redistest.Server // ended with it
}

// launch starts the gateway on an empty store and waits until it is ready.
func (s *scene) launch(ctx context.Context, path, backend string) (*process, error) {
	return s.launchWith(ctx, path, func(p *process) (err error) {
		if backend == sqliteName {
			return nil
		}
		if p.server, err = redistest.New("--appendfsync", strings.TrimPrefix(backend, redisName)); err == nil {
			p.redis = p.server.URL()
		}
		return err
	})
}

// launchOn starts the gateway on what a backend holds.
func (s *scene) launchOn(ctx context.Context, path string, b *backend) (*process, error) {
	return s.launchWith(ctx, path, func(p *process) error {
		if b.server != nil {
			p.redis = b.server.URL()
		} else {
			p.data = b.folder
		}
		return nil
	})
}

func (s *scene) launchWith(ctx context.Context, path string, prepare func(*process) error) (*process, error) {
	p := &process{exited: make(chan error, 1)}
	var err error
	if p.folder, err = os.MkdirTemp("", "bench-data-"); err != nil {
		return nil, err
	}
	p.data = p.folder
	if p.log, err = os.Create(filepath.Join(p.folder, "log")); err == nil {
		err = prepare(p)
	}
	if err == nil {
		err = p.start(ctx, path, s.environment(p))
	}
	if err != nil {
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

func (s *scene) environment(p *process) []string {
	out := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.folder, "GATEWAY_DATA=" + p.data, "GATEWAY_LISTEN=127.0.0.1:0", "GATEWAY_ACCESS_DM=anyone",
		"TELEGRAM_BOT_TOKEN=" + s.server.Token(), "TELEGRAM_API_URL=" + s.server.URL(),
		"OPENAI_API_KEY=" + s.model.Key(), "OPENAI_BASE_URL=" + s.model.URL(), "OPENAI_MODEL=" + fakeopenai.ModelDefault,
	}
	if p.redis != "" {
		out = append(out, "REDIS_URL="+p.redis)
	}
	return out
}

func (p *process) start(ctx context.Context, path string, environment []string) error {
	p.command = exec.Command(path, "run") // it is ended by end, in good order
	p.command.Dir, p.command.Env, p.command.Stdout, p.command.Stderr = p.folder, environment, p.log, p.log
	began := time.Now()
	if err := p.command.Start(); err != nil {
		p.command = nil
		return err
	}
	go func() { p.exited <- p.command.Wait() }()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for late := time.After(answerWithin); ; {
		if p.isReady() {
			p.ready = time.Since(began)
			return nil
		}
		select {
		case <-tick.C:
		case <-late:
			return fmt.Errorf("the gateway is not ready within %s", answerWithin)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *process) isReady() bool {
	raw, err := os.ReadFile(filepath.Join(p.data, "gateway.json"))
	if err != nil {
		return false
	}
	var file struct{ Address string }
	if json.Unmarshal(raw, &file) != nil {
		return false
	}
	response, err := http.Get(file.Address + "/readyz")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// end asks the gateway to stop, kills it if it does not, and removes its data.
func (p *process) end() error {
	var err error
	if p.command != nil {
		_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended already
		select {
		case err = <-p.exited:
		case <-time.After(endWithin):
			_ = p.command.Process.Kill()
			err = errors.Join(errors.New("the gateway did not stop"), <-p.exited)
		}
	}
	if err != nil {
		log, _ := os.ReadFile(p.log.Name())
		err = fmt.Errorf("%w; its log:\n%s", err, log)
	}
	if p.server != nil {
		p.server.Close()
	}
	if p.log != nil {
		p.log.Close()
	}
	return errors.Join(err, os.RemoveAll(p.folder))
}

// memory is the resident memory now, in MB.
func (p *process) memory() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kb, err := strconv.ParseFloat(fields[1], 64)
			return kb / 1024, err
		}
	}
	return 0, errors.New("the system does not tell the resident memory")
}

// busiest lets every chat talk so many times and gives the most memory seen.
func (s *scene) busiest(ctx context.Context, rounds int, p *process) (float64, error) {
	answers := make(chan struct{}, len(s.chats))
	s.hear(func(*chat, time.Time) { answers <- struct{}{} })
	most := 0.0
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for range rounds {
		for _, c := range s.chats {
			c.write()
		}
		late := time.After(answerWithin)
		for waiting := len(s.chats); waiting > 0; {
			select {
			case <-answers:
				waiting--
			case <-tick.C:
				now, err := p.memory()
				if err != nil {
					return 0, err
				}
				most = max(most, now)
			case <-late:
				return 0, errLate
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
	}
	return most, nil
}
