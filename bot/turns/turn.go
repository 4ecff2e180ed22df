package turns

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/bot/texts"
	"parley/internal/pause"
	"parley/routing"
	"parley/sessions"
)

// Turn is a claimed turn that runs here.
type Turn struct {
	*sessions.Turn
	Prompts []sessions.Message // what it answers; what cannot be read is left out
	Surface string             // where its answer goes; empty: it is not known
	Group   bool               // many people take part in its session

	runner  *Runner
	kind    Kind
	written []sessions.Entry // by the turn before it
	read    bool             // the cache has what came with the claim
}

func (r *Runner) newTurn(claimed *sessions.Turn, written []sessions.Entry) *Turn {
	t := &Turn{
		Turn: claimed, Prompts: messagesOf(claimed.Taken), Group: claimed.Record.Source.Type == sessions.Group,
		runner: r, kind: chat{}, written: written,
	}
	if len(t.Prompts) > 0 {
		t.Surface = t.Prompts[0].Surface
	}
	if r.KindOf != nil {
		if kind := r.KindOf(t); kind != nil {
			t.kind = kind
		}
	}
	return t
}

// log is made when there is something to say, which is rare.
func (t *Turn) log() *slog.Logger {
	return t.runner.Log.With("session", t.Lease.Session, "surface", t.Surface, "epoch", t.Lease.Epoch)
}

// think is the kind's. What came with the claim of a turn that its kind ended
// by itself is forgotten.
func (t *Turn) think(ctx context.Context) (sessions.CommitRequest, error) {
	request, err := t.kind.Think(ctx, t)
	if !t.read {
		t.runner.Cache.Drop(t.Lease.Session)
	}
	return request, err
}

// Answer asks the model, unless there is nothing to ask or something forbids
// it, and says how the turn ends. An error means that this process cannot end
// it: the lease is lost or the log cannot be read.
func (t *Turn) Answer(ctx context.Context, manner Manner) (sessions.CommitRequest, error) {
	lines := t.runner.Cache.join(t.Turn, t.Surface, t.written)
	t.read = true
	switch {
	case len(t.Taken) == 0:
		return sessions.CommitRequest{Outcome: sessions.Unanswered}, nil
	case len(t.Prompts) == 0: // where they were said is not known either
		return t.failed(texts.Parked, "its messages cannot be read; another version of the gateway may have written them", agent.Answer{})
	case t.Attempt > sessions.AttemptsMax:
		return t.failed(texts.Parked, fmt.Sprintf("begun %d times without an end", t.Attempt-1), agent.Answer{})
	}
	if t.Attempt == sessions.AttemptsMax {
		if !t.runner.suspects.enter(t.Lease.Session, time.Now()) {
			return sessions.CommitRequest{}, errCrowded
		}
		defer t.runner.suspects.leave(t.Lease.Session)
		pause.For(ctx, apartFor)
	}
	if kinds := unreadable(t.Prompts); len(kinds) > 0 && !anyText(t.Prompts) {
		return t.passedOver(kinds)
	}
	read, err := t.readLog(ctx, lines)
	if err != nil {
		return Unread(ctx, err)
	}
	request := request(t.Record, t.Surface, t.runner.Persona, time.Now().In(t.runner.Zone), read)
	request.System += manner.System
	answer, err := t.ask(ctx, request, manner)
	return t.end(ctx, answer, err)
}

// passedOver ends a turn whose messages hold nothing that can be read: in
// silence where nobody spoke to the bot.
func (t *Turn) passedOver(kinds []string) (sessions.CommitRequest, error) {
	text := texts.Unreadable(kinds)
	if t.undirected() {
		text = routing.SilenceMarker
	}
	return t.answered(agent.Answer{Text: text, Model: "gateway"}, "")
}

// replyTo is the message an answer refers to: in groups, the newest one that
// it answers, so that people see which.
func (t *Turn) replyTo() string {
	if !t.Group || len(t.Prompts) == 0 {
		return ""
	}
	return t.Prompts[len(t.Prompts)-1].MessageID
}

// ofOwner: an owner asked for the turn in a direct chat.
func (t *Turn) ofOwner() bool {
	return !t.Group && !slices.ContainsFunc(t.Prompts, func(m sessions.Message) bool {
		return m.Sender == nil || m.Sender.Role != string(routing.Owner)
	})
}

// undirected: nobody spoke to the bot, so that an answer of the gateway's own
// would be noise.
func (t *Turn) undirected() bool {
	return !slices.ContainsFunc(t.Prompts, func(m sessions.Message) bool { return !m.Group || m.Directed })
}

// messagesOf decodes entries, passing over what is no message.
func messagesOf(entries []sessions.Entry) []sessions.Message {
	out := make([]sessions.Message, 0, len(entries))
	for _, entry := range entries {
		if m, err := entry.Message(); err == nil {
			out = append(out, m)
		}
	}
	return out
}

// unreadable are the words for what came with the messages and cannot be read.
func unreadable(messages []sessions.Message) []string {
	var files []sessions.Attachment
	for _, m := range messages {
		files = append(files, m.Attachments...)
	}
	return texts.Kinds(files)
}

func anyText(messages []sessions.Message) bool {
	return slices.ContainsFunc(messages, func(m sessions.Message) bool { return strings.TrimSpace(m.Text) != "" })
}
