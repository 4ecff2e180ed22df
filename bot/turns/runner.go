package turns

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"parley/agent"
	"parley/bot/delivery"
	"parley/bot/life"
	"parley/bot/metrics"
	"parley/internal/fault"
	"parley/internal/guard"
	"parley/sessions"
)

// Config is what a Runner is made of. All but Persona, Fanout, Retry, KindOf,
// Admit and Answered is required.
type Config struct {
	Store   sessions.Store
	Model   agent.Model
	Outbox  *delivery.Outbox
	Life    *life.Life
	Metrics *metrics.Metrics
	Log     *slog.Logger
	Replica string // names this process among all that share the store
	Persona string // what the bot is, for its system prompt; empty: a plain assistant
	Zone    *time.Location
	Fanout  bool // shows answers in a session's other chats as well
	Max     int  // how many turns run here at once
	Retry   agent.RunOptions
	// KindOf gives a turn its kind. Nil, also as an answer: a chat's.
	KindOf func(*Turn) Kind
	// Admit says whether a claimed turn may run now. end is called when it is
	// over; nil: it is handed back, and due again after wait. Nil: all may.
	Admit func(*Turn) (end func(), wait time.Duration)
	// Empty is called before a turn in a group ends because the model's answer
	// was empty. Nobody there is told.
	Empty func(record sessions.Record, cause string)
	// Answered is called when a turn was answered. record is as it was at its
	// claim. Nil: nobody is told.
	Answered func(record sessions.Record)
}

// Runner runs turns. Its methods may be called from any goroutine.
type Runner struct {
	Config
	Cache    *Cache
	leases   *leases
	suspects *suspects
	prober   *prober
}

// New makes a Runner that runs nothing yet.
func New(config Config) *Runner {
	r := &Runner{
		Config: config, Cache: newCache(cacheSessions), suspects: newSuspects(), prober: newProber(config.Model, config.Log),
		leases: newLeases(config.Store, func(msg string, err error) { config.Log.Error(msg, "error", err) }),
	}
	r.Model = config.Metrics.Model(config.Model) // a probe is no call
	return r
}

// Renew renews the leases of the turns that run here until ctx ends.
func (r *Runner) Renew(ctx context.Context) { r.leases.run(ctx) }

// Probe asks the model at the start, and while it fails, whether it answers,
// until ctx ends.
func (r *Runner) Probe(ctx context.Context) { r.prober.run(ctx) }

// ModelHealth says why the model does not answer, as far as is known, and since
// when that is so. Empty: it answers.
func (r *Runner) ModelHealth() (problem string, since time.Time) { return r.prober.health() }

// Running is how many turns run here now.
func (r *Runner) Running() int { return r.leases.count() }

// HandBack ends the turns that still run: the store gets them back.
func (r *Runner) HandBack() { r.leases.stopAll(life.ErrDraining) }

// Check looks at once whether a session's turn, if it runs here, was asked to
// stop.
func (r *Runner) Check(ctx context.Context, session string) { r.leases.check(ctx, session) }

// Claimer claims turns. It is nil when this process has enough of them or is
// stopping: then the store keeps the work for later or for others.
func (r *Runner) Claimer() *sessions.Claimer {
	if r.leases.count() >= r.Max {
		return nil
	}
	return r.nextClaimer()
}

// nextClaimer is Claimer for a turn that follows another one of its session: it
// takes no additional place.
func (r *Runner) nextClaimer() *sessions.Claimer {
	if r.Life.Stopping() {
		return nil
	}
	return &sessions.Claimer{Owner: r.Replica, For: sessions.LeaseFor}
}

// Take claims a session's turn that is due, and starts it. sessions.ErrBusy: it
// runs here already, or must not run here now.
func (r *Runner) Take(ctx context.Context, session string) error {
	claimer := r.Claimer()
	if claimer == nil || r.suspects.waits(session, time.Now()) {
		return sessions.ErrBusy
	}
	if r.leases.runs(session) {
		r.leases.check(ctx, session)
		return sessions.ErrBusy
	}
	claimed, err := r.Store.Claim(ctx, sessions.ClaimRequest{Session: session, Claimer: *claimer, Known: r.Cache.Known(session)})
	if err != nil {
		return err
	}
	r.Start(claimed)
	return nil
}

// Start runs a claimed turn, and those that follow it, in a goroutine of its
// own.
func (r *Runner) Start(claimed *sessions.Turn) {
	r.Life.Spawn(func() {
		var written []sessions.Entry
		for claimed != nil {
			claimed, written = r.run(claimed, written)
		}
	})
}

// run runs one turn under its lease. written is what the turn before it wrote.
// It returns the next turn, if the commit claimed one, and what this one wrote.
func (r *Runner) run(claimed *sessions.Turn, written []sessions.Entry) (*sessions.Turn, []sessions.Entry) {
	ctx, end := context.WithCancelCause(r.Life.Thinking)
	defer end(nil)
	r.leases.hold(claimed.Lease, end)
	defer r.leases.release(claimed.Lease)
	fault.Here(fault.AfterClaim)
	if claimed.Stop {
		end(errStopped)
	}
	turn := r.newTurn(claimed, written)
	if r.Admit != nil && !claimed.Stop {
		over, wait := r.Admit(turn)
		if over == nil {
			r.abandon(turn, &tooSoonError{wait})
			return nil, nil
		}
		defer over()
	}
	began := time.Now()
	var request sessions.CommitRequest
	err := guard.Run(r.Log, "a turn", func() (err error) {
		request, err = turn.think(ctx)
		return err
	})
	if err != nil {
		r.abandon(turn, err)
		return nil, nil
	}
	// Also while stopping: what a turn says at the end is sent before the stop ends.
	request.Lease, request.Send = claimed.Lease, r.Outbox.LastClaimer()
	if slices.Contains([]sessions.Outcome{sessions.Done, sessions.Unanswered, sessions.Park}, request.Outcome) {
		request.Next = r.nextClaimer()
	}
	result, asked, err := r.commit(turn, request)
	if err != nil {
		return nil, nil
	}
	r.stored(turn, request.Outcome, result, began)
	r.Outbox.Send(result.Sends, asked)
	if request.Outcome == sessions.Done && r.Answered != nil {
		r.Answered(claimed.Record)
	}
	return result.Next, result.Entries
}

// stored takes note of a turn whose end was stored.
func (r *Runner) stored(turn *Turn, outcome sessions.Outcome, result sessions.CommitResult, began time.Time) {
	r.Metrics.TurnEnded(began)
	r.Cache.add(turn.Lease.Session, result.Entries)
	r.Log.LogAttrs(r.Life.Sending, slog.LevelInfo, "turn ended", slog.String("session", turn.Lease.Session), slog.String("surface", turn.Surface),
		slog.String("outcome", string(outcome)), slog.Int("messages", len(turn.Taken)), slog.Int("attempt", turn.Attempt), slog.Duration("took", time.Since(began)))
	turn.kind.Stored(turn, result.Entries)
}
