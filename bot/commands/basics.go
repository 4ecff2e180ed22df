package commands

import (
	"context"
	"errors"
	"slices"

	"parley/adapters"
	"parley/bot/texts"
	"parley/conversations"
	"parley/routing"
	"parley/sessions"
)

func (c *Commands) start(ctx context.Context, call Call) (Answer, error) {
	if call.Role.Rank() >= routing.Member.Rank() || c.Policy.Access.DM == routing.DMAnyone {
		return say(texts.StartKnown)
	}
	stranger, err := c.strangerText(ctx, call)
	return Answer{Text: texts.Hello + " " + stranger}, err
}

func (c *Commands) help(_ context.Context, call Call) (Answer, error) {
	return say(texts.Help(call.Role, call.Event.Direct, c.Policy.Access))
}

func (c *Commands) whoami(_ context.Context, call Call) (Answer, error) {
	return say(texts.Whoami(call.Event.Sender.ID, call.Role, call.User, call.Event.Surface, call.Alone()))
}

// begin is /new: it says so in the step that begins the conversation. What
// stands behind it is the first message there.
func (c *Commands) begin(ctx context.Context, call Call) (Answer, error) {
	if call.placeless() {
		return say(texts.NoPlaceHere)
	}
	call.Session = ""
	session, err := c.Rotate(ctx, call, texts.NewConversation)
	if err != nil || call.Command.Args == "" {
		return Answer{Post: sessions.PostResult{Session: session}}, err
	}
	call.Held = session
	key := call.Key
	if key != "" {
		key += ":text"
	}
	post, err := c.Post(ctx, call, key, call.Command.Args)
	return Answer{Post: post}, err
}

func (c *Commands) status(ctx context.Context, call Call) (Answer, error) {
	record, err := c.held(ctx, call)
	if errors.Is(err, sessions.ErrNotFound) {
		return say(texts.NoSession(call.Event.Surface))
	}
	if err != nil {
		return Answer{}, err
	}
	var problems []string
	if call.Role == routing.Owner && call.Event.Direct {
		problems = c.Problems(ctx)
	}
	return say(texts.Status(record, c.Model, problems))
}

// retry answers the last message once more. Its platform waits for an answer to
// a command of its own, else the new answer is enough.
func (c *Commands) retry(ctx context.Context, call Call) (Answer, error) {
	record, err := c.held(ctx, call)
	if errors.Is(err, sessions.ErrNotFound) {
		return say(texts.NothingToTry)
	}
	if err != nil {
		return Answer{}, err
	}
	turn, duplicate, err := c.Rerun(ctx, call.Key, record.ID)
	if errors.Is(err, sessions.ErrNothing) {
		return say(texts.NothingToTry)
	}
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Fresh: "again", Post: sessions.PostResult{Session: record.ID, Outcome: sessions.PostQueued, Turn: turn}}
	if duplicate {
		answer.Post.Outcome = sessions.PostDuplicate
	}
	if call.Event.Command != nil {
		answer.Text = texts.TryingAgain
	}
	return answer, nil
}

func (c *Commands) stop(ctx context.Context, call Call) (Answer, error) {
	record, err := c.held(ctx, call)
	if errors.Is(err, sessions.ErrNotFound) {
		return say(texts.NothingRuns)
	}
	if err != nil {
		return Answer{}, err
	}
	asked, err := c.asked(ctx, record)
	if err != nil {
		return Answer{}, err
	}
	if call.Permission == routing.PermOwnTurn && (asked.Sender == nil || !call.User.Is(asked.Sender.ID)) {
		if record.Status == sessions.StatusRunning {
			return say(texts.NotYours)
		}
		return say(texts.NothingRuns) // or what does, between two attempts, is another's
	}
	// Delivered once more, a stop is not meant for what was asked since.
	if asked.Surface == call.surface() && call.Event.Sequence != 0 && asked.Sequence > call.Event.Sequence {
		return say(texts.NothingRuns)
	}
	running, err := c.Stop(ctx, record.ID)
	if err != nil || running {
		return Answer{Text: texts.Stopped}, err
	}
	return say(texts.NothingRuns)
}

// asked is the newest message that the open turn answers, or that the last one
// answered; zero: there is none. The messages of one turn stand together at the
// end of the branch; the newest speaks for them all, since they were asked one
// after the other.
func (c *Commands) asked(ctx context.Context, record sessions.Record) (sessions.Message, error) {
	// By seq, they may stand on either side of the leaf.
	entries, err := c.Store.Range(ctx, record.ID, record.Leaf-sessions.TailMax, record.Leaf+sessions.TailMax)
	if err != nil {
		return sessions.Message{}, err
	}
	path, _ := sessions.Branch(sessions.Lines(entries), record.Leaf)
	for _, line := range slices.Backward(path) {
		if line.Message != nil && line.Message.Triggered {
			return *line.Message, nil
		}
	}
	return sessions.Message{}, nil
}

// checkpoint brings the conversation's notes up to date.
func (c *Commands) checkpoint(ctx context.Context, call Call) (Answer, error) {
	record, err := c.held(ctx, call)
	switch {
	case errors.Is(err, sessions.ErrNotFound):
		return say(texts.NoSession(call.Event.Surface))
	case err != nil:
		return Answer{}, err
	case record.State == sessions.StateExpired:
		return say(c.words(call, string(conversations.Expired)))
	}
	text, err := c.Checkpoint(ctx, call, record)
	return Answer{Text: text, Post: sessions.PostResult{Session: record.ID}}, err
}

// allow lets a group in, or out with off.
func (c *Commands) allow(ctx context.Context, call Call) (Answer, error) {
	chat, off := call.Event.Surface.ChatKey(), false
	switch args := call.Command.Args; {
	case args == "off":
		off = true
	case args != "":
		named, err := adapters.ParseSurface(args)
		if err != nil {
			return say(texts.AllowWhich)
		}
		if instead, err := c.ofOne(ctx, named); err != nil || instead != "" {
			return Answer{Text: instead}, err
		}
		chat = named.ChatKey()
	case call.Event.Direct:
		return say(texts.AllowWhich)
	}
	if off && call.Event.Direct {
		return say(texts.AllowWhich)
	}
	if off {
		if err := c.Store.UnlistChat(ctx, chat); err != nil {
			return Answer{}, err
		}
		c.Listed(chat, false)
		return say(texts.GroupOff)
	}
	if err := c.Store.ListChat(ctx, chat, string(call.Event.Sender.ID)); err != nil {
		return Answer{}, err
	}
	c.Listed(chat, true)
	c.Log.Info("a group was allowed", "chat", chat, "by", call.Event.Sender.ID)
	return say(texts.Allowed)
}
