package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/adapters"
	"parley/scheduler"
	"parley/sessions"
)

// tellNews tells of a schedule that fails: where its maker wanted it told,
// else each owner in his newest direct chat. Where nobody can be told it stays
// with the log, the history and the metrics.
func (b *Bot) tellNews(ctx context.Context, news scheduler.News) error {
	b.log.Error("a schedule failed", "schedule", news.Plan.ID, "run", news.Run.ID(), "attempt", news.Run.Attempt,
		"disabled", news.Disabled, "error", news.Run.Error)
	surfaces, err := b.responsible(ctx, news.Plan)
	if err != nil {
		return err
	}
	for i, surface := range surfaces {
		if err := b.tell(ctx, fmt.Sprintf("%s:%d", news.Key, i), surface, newsText(news)); err != nil {
			return err
		}
	}
	return nil
}

// tell says something of the bot's own accord, once per key.
func (b *Bot) tell(ctx context.Context, key string, surface adapters.Surface, text string) error {
	if local(surface.Platform) {
		return b.postAnswer(ctx, key, surface, sessions.Message{Role: sessions.RoleAssistant, Text: text, Decision: "gateway"})
	}
	return b.say(ctx, key, sessions.DedupeFor, surface, text, "")
}

// responsible are the places where failures of a schedule are told.
func (b *Bot) responsible(ctx context.Context, plan *scheduler.Plan) ([]adapters.Surface, error) {
	if surface, err := adapters.ParseSurface(plan.ReportTo); err == nil {
		return []adapters.Surface{surface}, nil
	}
	var out []adapters.Surface
	for _, owner := range b.owners {
		page, err := b.store.Find(ctx, sessions.Query{UserID: string(owner), Type: sessions.Direct, Limit: 10})
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if surface, found := b.reachable(page.Records); found {
			out = append(out, surface)
		}
	}
	return out, nil
}

// reachable is the first surface of the sessions to which something can be sent.
func (b *Bot) reachable(records []sessions.Record) (adapters.Surface, bool) {
	for _, record := range records {
		for _, key := range record.Surfaces {
			surface, err := adapters.ParseSurface(key)
			if err == nil && !local(surface.Platform) && b.surfaceProblem(key) == "" {
				return surface, true
			}
		}
	}
	return adapters.Surface{}, false
}

func newsText(news scheduler.News) string {
	id, planned := news.Plan.ID, news.Run.Planned.In(news.Plan.Zone()).Format("2006-01-02 15:04 MST")
	switch {
	case news.Disabled:
		return fmt.Sprintf("⚠ The schedule `%s` is disabled after %d failures in a row. The last one: %s\n\n`/schedule resume %s` starts it again.", id, news.Failures, news.Run.Error, id)
	case news.RetryAt.IsZero():
		return fmt.Sprintf("⚠ The schedule `%s` (run of %s) failed: %s", id, planned, news.Run.Error)
	default:
		return fmt.Sprintf("⚠ The schedule `%s` (run of %s) failed: %s\n\nIt is tried again at %s, and you hear of it once more only if it is given up.",
			id, planned, news.Run.Error, news.RetryAt.In(news.Plan.Zone()).Format(time.TimeOnly+" MST"))
	}
}
