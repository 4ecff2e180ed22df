package bot

import (
	"context"
	"fmt"
	"time"

	"parley/adapters"
	"parley/scheduler"
)

// tell tells of a schedule that fails: where its maker wanted it told,
// else each owner where they are alone with the bot. Where nobody can be told it stays
// with the log, the history and the metrics.
func (s *schedules) tell(ctx context.Context, news scheduler.News) error {
	s.log.Error("a schedule failed", "schedule", news.Plan.ID, "run", news.Run.ID(), "attempt", news.Run.Attempt,
		"disabled", news.Disabled, "error", news.Run.Error)
	surfaces, err := s.responsible(ctx, news.Plan)
	if err != nil {
		return err
	}
	for i, surface := range surfaces {
		if err := s.announcer.tell(ctx, fmt.Sprintf("%s:%d", news.Key, i), surface, newsText(news)); err != nil {
			return err
		}
	}
	return nil
}

// responsible are the places where failures of a schedule are told.
func (s *schedules) responsible(ctx context.Context, plan *scheduler.Plan) ([]adapters.Surface, error) {
	if surface, err := adapters.ParseSurface(plan.ReportTo); err == nil {
		return []adapters.Surface{surface}, nil
	}
	return s.owners(ctx)
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
