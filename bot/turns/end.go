package turns

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"parley/adapters"
	"parley/agent"
	"parley/bot/delivery"
	"parley/bot/texts"
	"parley/routing"
	"parley/sessions"
)

// end turns the model's answer, or why there is none, into the turn's end.
func (t *Turn) end(ctx context.Context, answer agent.Answer, err error) (sessions.CommitRequest, error) {
	if err == nil {
		t.runner.prober.heard(nil)
		if errors.Is(context.Cause(ctx), errStopped) { // just as it had ended: "Stopped." is said already
			return stopped(answer)
		}
		note := ""
		if kinds := unreadable(t.Prompts); len(kinds) > 0 {
			note = texts.CaptionOnly(kinds)
		}
		return t.answered(answer, note)
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStopped):
		return stopped(answer)
	case cause != nil:
		return sessions.CommitRequest{}, cause
	}
	failure := agent.AsModelError(err)
	if failure.Kind != agent.KindEmpty && failure.Kind != agent.KindContextLength && failure.Kind != agent.KindFiltered && failure.Kind != agent.KindRefused {
		t.runner.prober.heard(failure)
	}
	t.log().Error("the model gave no answer; the person is told", "error", failure)
	if failure.Kind == agent.KindFiltered {
		answer = agent.Answer{} // what was withheld is not kept
	}
	out, failed := t.failed(failure.ForPeople(), failure.Error(), answer)
	if failed == nil && failure.Kind == agent.KindEmpty && t.Group {
		out.Deliveries = nil // a bot with nothing to say says nothing
		t.runner.Empty(t.Record, failure.Error())
	}
	return out, failed
}

// answered is a turn that ends with an answer, or in silence.
func (t *Turn) answered(answer agent.Answer, note string) (sessions.CommitRequest, error) {
	shown, silent, _ := routing.StripReply(answer.Text, t.Group)
	entry, err := sessions.NewMessage(sessions.Message{
		Role: sessions.RoleAssistant, Text: answer.Text, Model: answer.Model, Tokens: answer.Tokens, Silent: silent, Group: t.Group,
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
	preview := texts.FirstLine(shown, sessions.PreviewMax)
	out.Patch.Preview = &preview
	if note != "" {
		shown = note + "\n\n" + shown
	}
	out.Deliveries, err = t.runner.Outbox.Rows(delivery.Text{Surface: t.Surface, Text: shown, Format: adapters.Markdown, ReplyTo: t.replyTo()})
	if err == nil && t.runner.Fanout {
		err = t.copies(shown, &out)
	}
	return out, err
}

// copies adds an answer for the other surfaces of its session.
func (t *Turn) copies(shown string, out *sessions.CommitRequest) error {
	for _, surface := range t.Record.Surfaces {
		if surface == t.Surface || !showsTo(t.Record, surface) {
			continue
		}
		rows, err := t.runner.Outbox.Rows(delivery.Text{Surface: surface, Text: shown, Format: adapters.Markdown})
		if err != nil {
			return err
		}
		if len(out.Deliveries)+len(rows) > sessions.EntriesPerCall {
			t.log().Warn("the conversation has more chats than one answer can be shown in", "surfaces", len(t.Record.Surfaces))
			return nil
		}
		out.Deliveries = append(out.Deliveries, rows...)
	}
	return nil
}

// showsTo reports whether a session's answers may be copied to one of its
// surfaces. Those of a group go where a group is, and to the gateway's own
// places: whoever took them up in a chat of their own may have left the group.
func showsTo(record sessions.Record, key string) bool {
	if record.Source.Type != sessions.Group {
		return true
	}
	surface, err := adapters.ParseSurface(key)
	if err != nil || surface.Platform.Own() || surface.Crowd() != adapters.CrowdUnknown {
		return err == nil && (surface.Platform.Own() || surface.Crowd() == adapters.CrowdGroup)
	}
	return record.Metadata[surface.Platform.Traits().ChatKey] == surface.Chat // where it began
}

// stopped is a turn that a person broke off: what there is of the answer stays
// in the log, and nothing more is sent. Without a word it was no answer.
func stopped(answer agent.Answer) (sessions.CommitRequest, error) {
	entries, err := unfinished(answer, true)
	if err == nil && len(entries) == 0 {
		entries, err = errorEntry(texts.Stopped, "")
		return sessions.CommitRequest{Outcome: sessions.Unanswered, Entries: entries}, err
	}
	return sessions.CommitRequest{Outcome: sessions.Done, Entries: entries}, err
}

// unfinished is what there is of an answer that did not come to its end; of one
// without a word nothing. People may have read it, so it stays in the log.
func unfinished(answer agent.Answer, stopped bool) ([]sessions.NewEntry, error) {
	if strings.TrimSpace(answer.Text) == "" {
		return nil, nil
	}
	entry, err := sessions.NewMessage(sessions.Message{
		Role: sessions.RoleAssistant, Text: answer.Text, Model: answer.Model, Partial: true, Stopped: stopped,
	})
	return []sessions.NewEntry{entry}, err
}

// failed is a turn that ends without an answer, or with the beginning of one:
// its messages are parked, so that /retry or an operator can run them again, and
// the person is told once, in plain words; an owner in their own chat is told
// the cause as well.
func (t *Turn) failed(told, cause string, begun agent.Answer) (sessions.CommitRequest, error) {
	entries, err := unfinished(begun, false)
	if err != nil {
		return sessions.CommitRequest{}, err
	}
	ending, err := errorEntry(told, cause)
	if err != nil {
		return sessions.CommitRequest{}, err
	}
	if t.ofOwner() {
		told += "\n\n(" + cause + ")"
	}
	rows, err := t.runner.Outbox.Rows(delivery.Text{Surface: t.Surface, Text: told, Format: adapters.Plain, ReplyTo: t.replyTo()})
	return sessions.CommitRequest{Outcome: sessions.Park, Reason: cause, Entries: append(entries, ending...), Deliveries: rows}, err
}

// Unread is the end of a turn whose conversation, or what it is for, could not
// be read: whoever asked it to stop meanwhile has what they wanted.
func Unread(ctx context.Context, err error) (sessions.CommitRequest, error) {
	if errors.Is(context.Cause(ctx), errStopped) {
		return stopped(agent.Answer{})
	}
	return sessions.CommitRequest{}, endedBy(ctx, err)
}

func endedBy(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func errorEntry(text, cause string) ([]sessions.NewEntry, error) {
	payload, err := json.Marshal(sessions.ErrorEntry{Text: text, Cause: cause})
	return []sessions.NewEntry{{Type: sessions.EntryError, Payload: payload}}, err
}
