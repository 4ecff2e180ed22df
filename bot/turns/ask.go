package turns

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/internal/guard"
	"parley/internal/pause"
)

const (
	// typingAfter spares quick answers the typing indicator.
	typingAfter = 300 * time.Millisecond
	// typingTimeout bounds one showing of it.
	typingTimeout = 4 * time.Second
)

// ask calls the model, and shows meanwhile that an answer is being written.
func (t *Turn) ask(ctx context.Context, request agent.Request, manner Manner) (agent.Answer, error) {
	var shows sync.WaitGroup
	defer shows.Wait()
	shown, hide := context.WithCancel(ctx)
	defer hide()
	var onText func(string)
	if adapter, surface := t.runner.Outbox.Connections.Of(t.Surface); manner.Unseen {
		// Nothing is shown.
	} else if adapter == nil {
		d := newDraft(t.runner.Store, t.Lease, t.Group)
		onText = d.write
		shows.Go(func() { guard.Safely(t.runner.Log, "a draft", func() { d.run(shown) }) })
	} else {
		shows.Go(func() {
			guard.Safely(t.runner.Log, "the typing indicator", func() { t.showTyping(shown, adapter, surface) })
		})
	}
	options := t.runner.Retry
	options.OnRetry = func(failure *agent.ModelError, wait time.Duration) {
		t.log().Warn("the model failed and is asked again", "error", failure, slog.Duration("wait", wait))
	}
	return agent.Run(ctx, t.runner.Model, request, options, onText)
}

// showTyping keeps the typing indicator up until ctx ends.
func (t *Turn) showTyping(ctx context.Context, adapter adapters.Adapter, surface adapters.Surface) {
	typer, ok := adapter.(adapters.Typer)
	shows := adapter.Capabilities().TypingFor
	if !ok || shows <= 0 {
		return
	}
	pause.For(ctx, typingAfter)
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, typingTimeout)
		if err := typer.Typing(call, surface); err != nil && ctx.Err() == nil {
			t.runner.Log.Debug("no typing indicator", "surface", surface, "error", err)
		}
		cancel()
		pause.For(ctx, shows*4/5)
	}
}
