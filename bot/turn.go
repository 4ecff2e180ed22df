package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/internal/fault"
	"parley/routing"
	"parley/scheduler"
	"parley/sessions"
)

const (
	// typingAfter spares quick answers the typing indicator.
	typingAfter = 300 * time.Millisecond
	// commitTries is how often a finished turn is tried to be stored; then its
	// lease runs out and it is run again.
	commitTries = 5
	commitPause = 300 * time.Millisecond
)

// run is a turn that runs here, and what is needed of it more than once.
type run struct {
	*sessions.Turn
	asked   []sessions.Message // what it answers
	surface string             // where its answer goes
	group   bool
	base    *slog.Logger
	job     *scheduler.Job // what a schedule wants of it; nil: no schedule does
}

func (b *Bot) newRun(turn *sessions.Turn) *run {
	r := &run{Turn: turn, asked: messagesOf(turn.Taken), group: turn.Record.Source.Type == sessions.Group, base: b.log}
	if len(r.asked) > 0 {
		r.surface = r.asked[0].Surface
	}
	return r
}

// log is made when there is something to say, which is rare.
func (r *run) log() *slog.Logger {
	return r.base.With("session", r.Lease.Session, "surface", r.surface, "epoch", r.Lease.Epoch)
}

// startTurn runs a claimed turn, and those that follow it, in a goroutine of
// its own.
func (b *Bot) startTurn(turn *sessions.Turn) {
	b.spawn(func() {
		var written []sessions.Entry
		for turn != nil {
			turn, written = b.runTurn(turn, written)
		}
	})
}

// runTurn runs one turn under its lease. written is what the turn before it
// wrote. It returns the next turn, if the commit took one up, and what this one
// wrote.
func (b *Bot) runTurn(turn *sessions.Turn, written []sessions.Entry) (*sessions.Turn, []sessions.Entry) {
	ctx, end := context.WithCancelCause(b.thinking)
	defer end(nil)
	b.leases.hold(turn.Lease, end)
	defer b.leases.release(turn.Lease)
	fault.Here(fault.AfterClaim)
	if turn.Stop {
		end(errStopped)
	}
	r := b.newRun(turn)
	began := time.Now()
	var commit sessions.CommitRequest
	err := guarded(b.log, "a turn", func() (err error) {
		if r.isScheduled() {
			commit, err = b.thinkScheduled(ctx, r, written)
		} else {
			commit, err = b.think(ctx, r, written)
		}
		return err
	})
	if err != nil {
		b.abandon(r, err)
		return nil, nil
	}
	// Also while stopping: what a turn says at the end is sent before the stop ends.
	commit.Lease, commit.Send = turn.Lease, &sessions.Claimer{Owner: b.replica, For: laneFor}
	if commit.Outcome == sessions.Done || commit.Outcome == sessions.Park {
		commit.Next = b.nextClaimer()
	}
	result, asked, err := b.commit(r, commit)
	if err != nil {
		return nil, nil
	}
	b.metrics.turnEnded(began)
	b.tails.add(turn.Lease.Session, result.Entries)
	b.log.Info("turn ended", "session", turn.Lease.Session, "surface", r.surface, "outcome", commit.Outcome,
		"messages", len(turn.Taken), "attempt", turn.Attempt, "took", time.Since(began))
	if r.isScheduled() {
		b.scheduledEnded(r, result.Entries)
	}
	b.deliverAll(result.Sends, asked)
	if commit.Outcome == sessions.Done {
		b.answeredIn(turn.Record)
	}
	return result.Next, result.Entries
}

// nextClaimer is claimer for a turn that follows its own one: it takes no
// additional place.
func (b *Bot) nextClaimer() *sessions.Claimer {
	if b.intake.Err() != nil {
		return nil
	}
	return &sessions.Claimer{Owner: b.replica, For: sessions.LeaseFor}
}

// think decides how the turn ends. An error means that it cannot be ended by
// this worker: the lease is lost or the log cannot be read.
func (b *Bot) think(ctx context.Context, r *run, written []sessions.Entry) (sessions.CommitRequest, error) {
	lines := b.tails.join(r.Turn, r.surface, written)
	switch {
	case len(r.Taken) == 0:
		return sessions.CommitRequest{Outcome: sessions.Done}, nil
	case len(r.asked) == 0: // where they were said is not known either
		return b.failed(r, textParked, "its messages cannot be read; another version of the gateway may have written them")
	}
	if r.Attempt > sessions.AttemptsMax {
		return b.failed(r, textParked, fmt.Sprintf("begun %d times without an end", r.Attempt-1))
	}
	if r.Attempt == sessions.AttemptsMax {
		if !b.suspects.enter(r.Lease.Session, time.Now()) {
			return sessions.CommitRequest{}, errNotAlone
		}
		defer b.suspects.leave(r.Lease.Session)
		wait(ctx, apartFor)
	}
	if kinds := unreadable(r.asked); len(kinds) > 0 && !anyText(r.asked) {
		if r.undirected() {
			return b.answered(r, agent.Answer{Text: routing.SilenceMarker, Model: "gateway"}, "")
		}
		return b.answered(r, agent.Answer{Text: textUnreadable(kinds), Model: "gateway"}, "")
	}
	read, err := b.read(ctx, r, lines)
	if err != nil {
		return b.unread(ctx, err)
	}
	answer, err := b.ask(ctx, r, request(r.Record, r.surface, b.persona, time.Now().In(b.zone), read))
	return b.ended(ctx, r, answer, err)
}

// ask calls the model, and shows meanwhile that an answer is being written.
func (b *Bot) ask(ctx context.Context, r *run, request agent.Request) (agent.Answer, error) {
	var shows sync.WaitGroup
	defer shows.Wait()
	shown, hide := context.WithCancel(ctx)
	defer hide()
	var onText func(string)
	if adapter, surface := b.adapterOf(r.surface); r.job != nil {
		request.System += "\n\n" + scheduledPrompt(*r.job) // and nobody waits to see it written
	} else if adapter == nil {
		d := newDraft(b.store, r.Lease, r.group)
		onText = d.write
		shows.Go(func() { b.safely("a draft", func() { d.run(shown) }) })
	} else {
		shows.Go(func() { b.safely("the typing indicator", func() { b.showTyping(shown, adapter, surface) }) })
	}
	options := b.retry
	options.OnRetry = func(failure *agent.ModelError, wait time.Duration) {
		r.log().Warn("the model failed and is asked again", "error", failure, slog.Duration("wait", wait))
	}
	return agent.Run(ctx, b.model, request, options, onText)
}

// showTyping keeps the typing indicator up until ctx ends.
func (b *Bot) showTyping(ctx context.Context, adapter adapters.Adapter, surface adapters.Surface) {
	typer, ok := adapter.(adapters.Typer)
	shows := adapter.Capabilities().TypingFor
	if !ok || shows <= 0 {
		return
	}
	wait(ctx, typingAfter)
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, sendTimeout)
		if err := typer.Typing(call, surface); err != nil && ctx.Err() == nil {
			b.log.Debug("no typing indicator", "surface", surface, "error", err)
		}
		cancel()
		wait(ctx, shows*4/5)
	}
}

// ended turns the model's answer, or why there is none, into the turn's end.
func (b *Bot) ended(ctx context.Context, r *run, answer agent.Answer, err error) (sessions.CommitRequest, error) {
	if err == nil {
		b.prober.heard(nil)
		if errors.Is(context.Cause(ctx), errStopped) { // just as it had ended: "Stopped." is said already
			return b.stopped(answer)
		}
		note := ""
		if kinds := unreadable(r.asked); len(kinds) > 0 {
			note = textCaptionOnly(kinds)
		}
		return b.answered(r, answer, note)
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStopped):
		return b.stopped(answer)
	case cause != nil:
		return sessions.CommitRequest{}, cause
	}
	failure := agent.AsModelError(err)
	if failure.Kind != agent.KindEmpty && failure.Kind != agent.KindContextLength && failure.Kind != agent.KindFiltered && failure.Kind != agent.KindRefused {
		b.prober.heard(failure)
	}
	r.log().Error("the model gave no answer; the person is told", "error", failure)
	return b.failed(r, failure.ForPeople(), failure.Error())
}

// answered is a turn that ends with an answer, or in silence.
func (b *Bot) answered(r *run, answer agent.Answer, note string) (sessions.CommitRequest, error) {
	shown, silent, _ := routing.StripReply(answer.Text, r.group)
	entry, err := sessions.NewMessage(sessions.Message{
		Role: sessions.RoleAssistant, Text: answer.Text, Model: answer.Model, Tokens: answer.Tokens, Silent: silent, Group: r.group,
	})
	if err != nil {
		return sessions.CommitRequest{}, err
	}
	out := sessions.CommitRequest{Outcome: sessions.Done, Entries: []sessions.NewEntry{entry}}
	if answer.Tokens != nil {
		out.Patch.ContextTokens = &answer.Tokens.Prompt
	}
	if silent {
		return out, nil
	}
	preview := firstLine(shown, sessions.PreviewMax)
	out.Patch.Preview = &preview
	if note != "" {
		shown = note + "\n\n" + shown
	}
	out.Deliveries, err = b.outgoing(r.surface, shown, adapters.Markdown, r.replyTo(), 0)
	if err == nil && b.fanout {
		err = b.copies(r, shown, &out)
	}
	return out, err
}

// copies adds an answer for the other surfaces of its session.
func (b *Bot) copies(r *run, shown string, out *sessions.CommitRequest) error {
	for _, surface := range r.Record.Surfaces {
		if surface == r.surface {
			continue
		}
		rows, err := b.outgoing(surface, shown, adapters.Markdown, "", 0)
		if err != nil {
			return err
		}
		if len(out.Deliveries)+len(rows) > sessions.EntriesPerCall {
			r.log().Warn("the conversation has more chats than one answer can be shown in", "surfaces", len(r.Record.Surfaces))
			return nil
		}
		out.Deliveries = append(out.Deliveries, rows...)
	}
	return nil
}

// replyTo is the message an answer refers to: in groups, the newest one that
// was asked, so that people see which.
func (r *run) replyTo() string {
	if !r.group || len(r.asked) == 0 {
		return ""
	}
	return r.asked[len(r.asked)-1].MessageID
}

// stopped is a turn that a person broke off: what there is of the answer stays
// in the log, and nothing more is sent.
func (b *Bot) stopped(answer agent.Answer) (sessions.CommitRequest, error) {
	entry, err := sessions.NewMessage(sessions.Message{Role: sessions.RoleAssistant, Text: answer.Text, Model: answer.Model, Partial: true, Stopped: true})
	if strings.TrimSpace(answer.Text) == "" {
		entry, err = errorEntry(textStopped, "")
	}
	return sessions.CommitRequest{Outcome: sessions.Done, Entries: []sessions.NewEntry{entry}}, err
}

// failed is a turn that ends without an answer: its messages are parked, so
// that /retry or an operator can run them again, and the person is told once,
// in plain words; an owner in his own chat is told the cause as well.
func (b *Bot) failed(r *run, told, cause string) (sessions.CommitRequest, error) {
	entry, err := errorEntry(told, cause)
	if err != nil {
		return sessions.CommitRequest{}, err
	}
	if r.ownerAlone() {
		told += "\n\n(" + cause + ")"
	}
	rows, err := b.outgoing(r.surface, told, adapters.Plain, r.replyTo(), 0)
	return sessions.CommitRequest{Outcome: sessions.Park, Reason: cause, Entries: []sessions.NewEntry{entry}, Deliveries: rows}, err
}

// abandon gives a turn back that this worker does not end.
func (b *Bot) abandon(r *run, cause error) {
	b.tails.drop(r.Lease.Session)
	request := sessions.CommitRequest{Lease: r.Lease}
	switch {
	case errors.Is(cause, errLost), errors.Is(cause, sessions.ErrFenced):
		b.metrics.turnLost()
		r.log().Warn("the lease was lost; another worker goes on", "attempt", r.Attempt)
		return
	case errors.Is(cause, errDraining), errors.Is(cause, errNotAlone):
		request.Outcome = sessions.HandBack
	default:
		r.log().Error("the turn could not be run; it is tried again", "attempt", r.Attempt, "error", cause)
		request.Outcome, request.After, request.Reason = sessions.Again, backoff(r.Attempt, jitter()), cause.Error()
	}
	if _, _, err := b.commit(r, request); err == nil && request.Outcome == sessions.HandBack {
		r.log().Info("turn handed back")
	}
}

// commit stores a turn's end, trying a few times while the store does not
// answer: its fence makes that safe. It returns when the store was last asked.
func (b *Bot) commit(r *run, request sessions.CommitRequest) (sessions.CommitResult, time.Time, error) {
	for try := 1; ; try++ {
		asked := time.Now()
		call, cancel := context.WithTimeout(context.WithoutCancel(b.sending), storeTimeout)
		result, err := b.store.Commit(call, request)
		cancel()
		switch {
		case err == nil:
			return result, asked, nil
		case errors.Is(err, sessions.ErrFenced):
			b.tails.drop(request.Lease.Session)
			r.log().Warn("the turn's end came too late; another worker has the session, or it was stored before")
			return result, asked, err
		case try == commitTries || isInvalid(err):
			b.tails.drop(request.Lease.Session)
			r.log().Error("the turn's end could not be stored; the turn runs again", "error", err)
			return result, asked, err
		}
		wait(b.sending, commitPause*time.Duration(try))
	}
}

// unread is the end of a turn whose conversation, or what it is for, could not
// be read: who asked it to stop meanwhile has what he wanted.
func (b *Bot) unread(ctx context.Context, err error) (sessions.CommitRequest, error) {
	if errors.Is(context.Cause(ctx), errStopped) {
		return b.stopped(agent.Answer{})
	}
	return sessions.CommitRequest{}, endedBy(ctx, err)
}

func endedBy(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func errorEntry(text, cause string) (sessions.NewEntry, error) {
	return newEntry(sessions.EntryError, sessions.ErrorEntry{Text: text, Cause: cause})
}
