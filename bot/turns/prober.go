package turns

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parley/agent"
	"parley/internal/guard"
)

// How often a model that fails is asked whether it is back.
const (
	probeEvery   = 30 * time.Second
	probeTimeout = 15 * time.Second
)

// prober knows whether the model answers: from a probe at the start, from each
// turn, and, while it fails, from a probe every probeEvery.
type prober struct {
	model agent.Model
	log   *slog.Logger
	wake  chan struct{}

	mu      sync.Mutex
	problem string
	since   time.Time
}

func newProber(model agent.Model, log *slog.Logger) *prober {
	return &prober{model: model, log: log, wake: make(chan struct{}, 1), since: time.Now()}
}

// run probes until ctx ends.
func (p *prober) run(ctx context.Context) {
	for {
		p.probe(ctx)
		if !p.waitForTrouble(ctx) {
			return
		}
	}
}

// waitForTrouble returns when it is time to probe again; false: ctx has ended.
func (p *prober) waitForTrouble(ctx context.Context) bool {
	if problem, _ := p.health(); problem == "" {
		select {
		case <-ctx.Done():
			return false
		case <-p.wake:
		}
	}
	timer := time.NewTimer(probeEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (p *prober) probe(ctx context.Context) {
	asked, ok := p.model.(agent.Prober)
	if !ok {
		return
	}
	call, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := guard.Run(p.log, "the model's probe", func() error { return asked.Probe(call) })
	if ctx.Err() == nil {
		p.heard(err)
	}
}

// heard takes note of how the model answered. The log tells only changes.
func (p *prober) heard(err error) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	p.mu.Lock()
	before := p.problem
	if (problem == "") != (before == "") {
		p.since = time.Now()
	}
	p.problem = problem
	p.mu.Unlock()
	switch {
	case problem != "" && before == "":
		p.log.Error("the model does not answer; it is asked again from time to time", "model", p.model.Name(), "error", problem)
		select {
		case p.wake <- struct{}{}:
		default:
		}
	case problem == "" && before != "":
		p.log.Info("the model answers again", "model", p.model.Name())
	}
}

// health is the problem, empty if there is none, and since when that is so.
func (p *prober) health() (problem string, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.problem, p.since
}
