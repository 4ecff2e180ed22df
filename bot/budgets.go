package bot

import (
	"context"
	"fmt"
	"time"

	"parley/adapters"
	"parley/bot/budget"
	"parley/bot/delivery"
	"parley/bot/texts"
	"parley/bot/turns"
	"parley/routing"
	"parley/scheduler"
	"parley/sessions"
)

// admit asks whether a claimed turn may run now. One that may not waits in the
// store, and whoever it belongs to is told so once.
func (b *Bot) admit(turn *turns.Turn) (end func(), wait time.Duration) {
	if len(turn.Prompts) == 0 {
		return func() {}, 0 // it asks no model
	}
	ctx, cancel := b.life.Call()
	defer cancel()
	ask := b.askOf(ctx, turn)
	verdict := b.budget.Begin(ask)
	if verdict.End == nil {
		b.log.Info("a turn waits for its budget", "session", turn.Lease.Session, "surface", turn.Surface, "reason", verdict.Reason, "wait", verdict.Wait)
	}
	if verdict.Tell {
		b.tellWaits(ctx, turn, ask)
	}
	return verdict.End, verdict.Wait
}

// askOf says whose budget a turn uses: that of the schedule's maker, or of who
// wrote the first of its messages. Identities that are linked are one person.
func (b *Bot) askOf(ctx context.Context, turn *turns.Turn) budget.Ask {
	first := turn.Prompts[0]
	ask := budget.Ask{Chat: chatOf(turn.Surface)}
	if first.Sender != nil {
		ask.Person, ask.Role = first.Sender.ID, routing.Role(first.Sender.Role)
	}
	if ask.Role == routing.Owner {
		return ask
	}
	if id := scheduler.IDOf(first.MessageID); first.Decision == scheduler.Decision && id != "" {
		ask.Schedule, ask.Chat = true, ""
		if stored, err := b.store.Schedule(ctx, id); err == nil {
			ask.Person = stored.By
		}
	}
	if user, err := b.people.Ask(ctx, ask.Person); err == nil {
		ask.Person = user.ID
	}
	return ask
}

func chatOf(key string) string {
	surface, err := adapters.ParseSurface(key)
	if err != nil {
		return key
	}
	return surface.ChatKey()
}

// tellWaits tells a person who spoke to the bot that the answer comes later.
func (b *Bot) tellWaits(ctx context.Context, turn *turns.Turn, ask budget.Ask) {
	first := turn.Prompts[0]
	surface, err := adapters.ParseSurface(turn.Surface)
	if err != nil || ask.Schedule || surface.Platform.Own() || first.Group && !first.Directed {
		return
	}
	text := delivery.Text{Surface: turn.Surface, Text: texts.Waits, Format: adapters.Markdown, ReplyTo: first.MessageID}
	if err := b.outbox.Say(ctx, fmt.Sprintf("waits:%s:%d", turn.Lease.Session, first.Sequence), sessions.DedupeFor, text); err != nil {
		b.log.Warn("a person could not be told that an answer waits", "surface", turn.Surface, "error", err)
	}
}
