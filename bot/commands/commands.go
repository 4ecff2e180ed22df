package commands

import (
	"context"
	"errors"
	"time"

	"parley/bot/texts"
	"parley/conversations"
	"parley/routing"
	"parley/sessions"
)

// rarely is how long the same refusal is not said to the same person in the
// same chat again.
const rarely = 10 * time.Minute

// Commands carries out commands. Its methods may be called from any goroutine.
type Commands struct {
	Config
	rows  map[string]row
	links *links
}

// New makes Commands.
func New(config Config) *Commands {
	c := &Commands{Config: config, rows: map[string]row{}, links: newLinks()}
	for _, row := range c.table() {
		c.rows[row.name] = row
	}
	return c
}

// Run carries out a command and answers it. The result says which session it
// led to, and which turn it set going.
func (c *Commands) Run(ctx context.Context, call Call) (sessions.PostResult, error) {
	row, found := c.rows[call.Command.Name]
	if !found {
		return sessions.PostResult{}, errors.New("the command table has a command that nothing runs: " + call.Command.Name)
	}
	refused, err := c.asInGroup(ctx, row, &call)
	if err != nil {
		return sessions.PostResult{}, err
	}
	if refused {
		return sessions.PostResult{}, c.Refuse(ctx, call, routing.NoticeCommandRefused)
	}
	answer, err := c.carryOut(ctx, row, call)
	if err != nil || answer.Text == "" {
		return answer.Post, err
	}
	key, keyFor := call.Key, sessions.DedupeFor
	if answer.Fresh != "" {
		key += ":" + answer.Fresh
	}
	if row.informs && call.Role.Rank() < routing.Member.Rank() && call.Event.Command == nil {
		key, keyFor = "notice:"+row.name+":"+string(call.Event.Sender.ID)+":"+call.Event.Surface.ChatKey(), rarely
	}
	return answer.Post, c.Say(ctx, call, key, keyFor, answer.Text)
}

// Refuse says why somebody may not do something: at most once per person and
// chat in ten minutes, and per chat where the group itself is not allowed. A
// platform's own command is answered each time, since its sender sees
// "thinking" until an answer comes.
func (c *Commands) Refuse(ctx context.Context, call Call, kind routing.NoticeKind) error {
	sender, chat := call.Event.Sender.ID, call.Event.Surface.ChatKey()
	text := texts.Notice(kind, sender)
	if kind == routing.NoticeStranger {
		var err error
		if text, err = c.strangerText(ctx, call); err != nil {
			return err
		}
	}
	if call.Event.Command != nil {
		return c.Say(ctx, call, call.Key, sessions.DedupeFor, text)
	}
	key := "notice:refused:" + string(sender) + ":" + chat
	switch kind {
	case routing.NoticeStranger:
		key = "notice:stranger:" + string(sender)
	case routing.NoticeGroupNotListed:
		key = "notice:unlisted:" + chat
	}
	return c.Say(ctx, call, key, rarely, text)
}

// carryOut runs a row's handler, with the session that it is about.
func (c *Commands) carryOut(ctx context.Context, row row, call Call) (Answer, error) {
	if row.about != nil {
		return c.once(ctx, row, call)
	}
	answer, err := row.run(ctx, call)
	return c.worded(call, answer, err)
}

// worded makes an answer of a refusal. A platform that tells of one message in
// two texts has no use for an answer to the second.
func (c *Commands) worded(call Call, answer Answer, err error) (Answer, error) {
	code := string(conversations.CodeOf(err))
	if code == string(conversations.KeyReused) && !call.Event.Surface.Platform.Own() {
		c.Log.Warn("an event came again with another text, and is dropped", "surface", call.surface(), "event", call.Event.ID)
		return Answer{Post: sessions.PostResult{Outcome: sessions.PostDuplicate}}, nil
	}
	if text := c.words(call, code); text != "" {
		return Answer{Text: text, code: code}, nil
	}
	if refused, ok := errors.AsType[*conversations.Refusal](err); ok && refused.Code == conversations.Invalid {
		return say(refused.Detail) // and will say so each time
	}
	return answer, err
}

// What is remembered of /link, beside the refusals of the conversations' room.
const (
	linked    = "linked"
	linkWrong = "link_wrong"
	linkSame  = "link_same"
)

// words are the answer that a code stands for. Empty: it stands for none, such
// as Busy, which is tried again with its event.
func (c *Commands) words(call Call, code string) string {
	switch conversations.Code(code) {
	case conversations.NotFound, conversations.NoPlace:
		return texts.NoSuchSession
	case conversations.NoEntry:
		return texts.NoSuchEntry
	case conversations.Running:
		return texts.StillRunning
	case conversations.Expired:
		return texts.Ended
	case conversations.GroupOnly:
		return texts.DirectInGroup
	case conversations.TooLong:
		return texts.ForkTooLong
	case conversations.Forbidden:
		return texts.Notice(routing.NoticeCommandRefused, call.Event.Sender.ID)
	case conversations.Untold:
		return texts.Untold
	case linked:
		return texts.Linked(call.User)
	case linkWrong:
		return texts.LinkWrong
	case linkSame:
		return texts.LinkSame
	}
	return ""
}

// asInGroup gives a command in a direct chat the rights that it has in groups,
// where a group's conversation was taken up there: whoever takes part in it does
// not own it. A new conversation only leaves it, and does not end it for the
// others. refused: the sender may not run the command on it.
func (c *Commands) asInGroup(ctx context.Context, row row, call *Call) (refused bool, err error) {
	if !call.Alone() || !row.changes || call.Role == routing.Owner && row.name != "new" {
		return false, nil
	}
	record, err := c.bound(ctx, *call)
	_, left := errors.AsType[*sessions.MovedError](err) // the command itself finds that, or its key
	if left || errors.Is(err, sessions.ErrNotFound) || err == nil && record.Source.Type != sessions.Group {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if row.name == "new" {
		by := call.caller()
		by.Alone = false // who has left the group may leave its conversation too
		_, err := c.Room.Detach(ctx, by, record.ID, call.surface())
		if errors.Is(err, sessions.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	call.Permission = routing.MayRun(row.name, call.Role, false, c.Policy.Access)
	return call.Permission == routing.PermRefused, nil
}

// held is the record of the session that a command is about, if the sender may
// reach it. MovedError: see Call.Held.
func (c *Commands) held(ctx context.Context, call Call) (sessions.Record, error) {
	record, err := c.bound(ctx, call)
	if err != nil {
		return record, err
	}
	return c.Room.Get(ctx, call.caller(), record.ID)
}

// bound is held without asking who may reach it.
func (c *Commands) bound(ctx context.Context, call Call) (sessions.Record, error) {
	if call.Session != "" {
		return c.Room.Get(ctx, call.caller(), call.Session)
	}
	record, err := c.Store.Bound(ctx, call.surface())
	if err == nil && call.Held != "" && record.ID != call.Held {
		return record, &sessions.MovedError{Surface: call.surface(), Session: record.ID}
	}
	return record, err
}
