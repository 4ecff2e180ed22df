package bot

import (
	"context"
	"time"

	"parley/adapters"
	"parley/api"
	"parley/routing"
	"parley/sessions"
)

var _ api.Operations = (*Bot)(nil)

// pingTimeout bounds how long readiness waits for the store: longer than a store
// waits for its replicas, so that it can say that they are missing.
const pingTimeout = 1800 * time.Millisecond

// Say takes in a message of a local surface, the way an adapter's event goes.
func (b *Bot) Say(ctx context.Context, say api.Say) (api.Said, error) {
	if !b.enter() {
		return api.Said{}, api.ErrStopping
	}
	defer b.leave()
	event := adapters.Event{
		Kind: adapters.EventMessage, ID: say.Key, Surface: say.Surface, Direct: true, Sender: say.Sender,
		Workspace: say.Workspace, Text: say.Text, Time: time.Now(),
	}
	if event.Sender.ID == "" {
		event.Sender.ID = LocalOwner(say.Surface.Platform)
	}
	if say.Append {
		return b.append(ctx, say, event)
	}
	out, err := b.handle(ctx, arrival{event: event, session: say.Session})
	if err != nil {
		return api.Said{}, err
	}
	return said(out), nil
}

// append stores a message without asking for an answer.
func (b *Bot) append(ctx context.Context, say api.Say, event adapters.Event) (api.Said, error) {
	a := arrival{event: event, session: say.Session}
	if err := b.decide(ctx, &a); err != nil {
		return api.Said{}, err
	}
	if a.decision.Action == routing.ActionNotice || a.decision.Action == routing.ActionDrop {
		return api.Said{Reason: string(a.decision.Reason), Reply: noticeText(a)}, nil
	}
	if a.secret() {
		return api.Said{Reason: string(a.decision.Reason), Reply: textLinkNotSaid}, nil
	}
	a.decision.Action = routing.ActionLog
	var reply string
	a.reply = func(text string) { reply = text }
	post, err := b.post(ctx, a)
	out := said(taken{post: post, decision: a.decision, reply: reply})
	b.logDecision(ctx, a, taken{post: post, decision: a.decision}, err)
	return out, err
}

func said(out taken) api.Said {
	return api.Said{
		Session: out.post.Session, Seq: out.post.Seq, Reason: string(out.decision.Reason), Reply: out.reply,
		Turn:      out.post.Outcome == sessions.PostClaimed || out.post.Outcome == sessions.PostQueued,
		Duplicate: out.post.Outcome == sessions.PostDuplicate,
	}
}

// Stop asks the running turn of a session to stop, here at once and on
// another replica by the store.
func (b *Bot) Stop(ctx context.Context, session string) (bool, error) {
	running, err := b.store.Stop(ctx, session)
	if running {
		b.leases.check(ctx, session)
	}
	return running, err
}

// Readiness reports store, model and each connection.
func (b *Bot) Readiness(ctx context.Context) []api.PartHealth {
	parts := []api.PartHealth{b.storeHealth(ctx), b.modelHealth()}
	for _, adapter := range b.adapters {
		health := adapter.Health()
		name := string(adapter.Capabilities().Platform)
		if account := adapter.Account(); account != "" {
			name += ":" + account
		}
		parts = append(parts, api.PartHealth{Name: name, OK: health.OK(), State: string(health.State), Problem: health.Problem, Since: health.Since})
	}
	if b.intake.Err() != nil {
		parts = append(parts, api.PartHealth{Name: "gateway", State: "stopping", Problem: "the gateway is stopping; another replica should get the traffic"})
	}
	return parts
}

func (b *Bot) storeHealth(ctx context.Context) api.PartHealth {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := b.store.Ping(ctx); err != nil {
		return api.PartHealth{Name: "store", State: "away", Problem: "the store does not answer: " + err.Error() + "; nothing is acknowledged until it is back"}
	}
	return api.PartHealth{Name: "store", OK: true, State: "ready"}
}

func (b *Bot) modelHealth() api.PartHealth {
	p := b.prober
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.problem != "" {
		return api.PartHealth{Name: "model", State: "failing", Problem: p.problem, Since: p.since}
	}
	return api.PartHealth{Name: "model", OK: true, State: p.model.Name(), Since: p.since}
}
