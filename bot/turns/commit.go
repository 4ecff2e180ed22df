package turns

import (
	"errors"
	"time"

	"parley/bot/life"
	"parley/internal/pause"
	"parley/sessions"
)

// commitTries is how often a finished turn is tried to be stored. Then its
// lease runs out and it is run again.
const (
	commitTries = 5
	commitPause = 300 * time.Millisecond
)

// tooSoonError is why a turn that must not run yet is given back.
type tooSoonError struct{ wait time.Duration }

func (e *tooSoonError) Error() string { return "it waits for " + e.wait.String() }

// abandon gives a turn back that this worker does not end.
func (r *Runner) abandon(turn *Turn, cause error) {
	r.Cache.Drop(turn.Lease.Session)
	request := sessions.CommitRequest{Lease: turn.Lease}
	later, isTooSoon := errors.AsType[*tooSoonError](cause)
	switch {
	case errors.Is(cause, errLost), errors.Is(cause, sessions.ErrFenced):
		r.Metrics.TurnLost()
		turn.log().Warn("the lease was lost; another worker goes on", "attempt", turn.Attempt)
		return
	case errors.Is(cause, life.ErrDraining), errors.Is(cause, errCrowded):
		request.Outcome = sessions.HandBack
	case isTooSoon:
		request.Outcome, request.After = sessions.HandBack, later.wait
	default:
		turn.log().Error("the turn could not be run; it is tried again", "attempt", turn.Attempt, "error", cause)
		request.Outcome, request.After, request.Reason = sessions.Again, pause.Backoff(turn.Attempt, pause.Jitter()), cause.Error()
	}
	if _, _, err := r.commit(turn, request); err == nil && request.Outcome == sessions.HandBack {
		turn.log().Info("turn handed back")
	}
}

// commit stores a turn's end, trying a few times while the store does not
// answer: its fence makes that safe. It returns when the store was last asked.
func (r *Runner) commit(turn *Turn, request sessions.CommitRequest) (sessions.CommitResult, time.Time, error) {
	for try := 1; ; try++ {
		asked := time.Now()
		call, cancel := r.Life.Call()
		result, err := r.Store.Commit(call, request)
		cancel()
		_, invalid := errors.AsType[*sessions.InvalidError](err)
		switch {
		case err == nil:
			return result, asked, nil
		case errors.Is(err, sessions.ErrFenced):
			r.Cache.Drop(request.Lease.Session)
			turn.log().Warn("the turn's end came too late; another worker has the session, or it was stored before")
			return result, asked, err
		case try == commitTries || invalid:
			r.Cache.Drop(request.Lease.Session)
			turn.log().Error("the turn's end could not be stored; the turn runs again", "error", err)
			return result, asked, err
		}
		pause.For(r.Life.Sending, commitPause*time.Duration(try))
	}
}
