package commands

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"parley/bot/texts"
	"parley/conversations"
	"parley/sessions"
	"parley/sessions/view"
)

// How much is shown in a chat.
const (
	sessionsShown = 8  // what fits a phone's screen
	sessionsAll   = 20 // with /sessions all
	treeWidth     = 40 // runes
	treeLines     = 24
	treeNodes     = 200
)

// resumeDigits tells numbers from ids, which are longer or have letters.
const resumeDigits = 3

// holding finds the session that is held where a command is given.
func (c *Commands) holding(ctx context.Context, call Call) (string, error) {
	record, err := c.held(ctx, call)
	if errors.Is(err, sessions.ErrNotFound) {
		return "", nil
	}
	return record.ID, err
}

// sessions lists the sender's own sessions, an owner's too; in a group only
// those that may be gone on with in a group.
func (c *Commands) sessions(ctx context.Context, call Call) (Answer, error) {
	return c.list(ctx, call, call.Command.Args == "all", "")
}

func (c *Commands) list(ctx context.Context, call Call, all bool, heading string) (Answer, error) {
	page, err := c.mine(ctx, call, all)
	if err != nil {
		return Answer{}, err
	}
	current, err := c.holding(ctx, call)
	if err != nil {
		return Answer{}, err
	}
	m := call.memory
	m.Lister, m.Listed, m.changed = call.User.ID, ids(page), true
	return say(heading + texts.List(page, current, all, time.Now()))
}

func ids(page sessions.Page) (out []string) {
	for _, record := range page.Records {
		out = append(out, record.ID)
	}
	return out
}

func (c *Commands) mine(ctx context.Context, call Call, all bool) (sessions.Page, error) {
	if call.User.ID == "" { // nobody's own would be everybody's
		return sessions.Page{}, nil
	}
	query := sessions.Query{Participant: call.User.ID, States: []sessions.State{sessions.StateCreated, sessions.StateActive}, Limit: sessionsShown}
	if all {
		query.States, query.Limit = nil, sessionsAll
	}
	if !call.Alone() {
		query.Type = sessions.Group
	}
	return c.Room.Find(ctx, call.caller(), query)
}

// named finds the session that /resume means, if the sender may reach it. A
// number is one of the list that they were shown last here.
func (c *Commands) named(ctx context.Context, call Call) (string, error) {
	arg := call.Command.Args
	if arg == "" {
		return "", nil
	}
	id := strings.Trim(arg, "`")
	if number, err := strconv.Atoi(arg); err == nil && len(arg) <= resumeDigits {
		if id, err = c.numbered(ctx, call, number); err != nil {
			return "", err
		}
	}
	if sessions.CheckID(id) != nil {
		return "", sessions.ErrNotFound
	}
	record, err := c.Room.Get(ctx, call.caller(), id)
	return record.ID, err
}

// numbered is the id behind a number.
func (c *Commands) numbered(ctx context.Context, call Call, number int) (string, error) {
	listed := call.memory.Listed
	if call.memory.Lister != call.User.ID || len(listed) == 0 {
		page, err := c.mine(ctx, call, false)
		if err != nil {
			return "", err
		}
		listed = ids(page)
	}
	if number < 1 || number > len(listed) {
		return "", sessions.ErrNotFound
	}
	return listed[number-1], nil
}

// resume makes another session this chat's. One that has ended is copied, and
// the copy goes on.
func (c *Commands) resume(ctx context.Context, call Call) (Answer, error) {
	switch {
	case call.target == "":
		return c.list(ctx, call, false, texts.ResumeWhich)
	case call.placeless():
		return say(texts.NoPlaceHere)
	}
	result, err := c.Room.Resume(ctx, call.caller(), call.target, call.here(), true, call.Key)
	if err != nil {
		return Answer{}, err
	}
	if result.Before.State == sessions.StateExpired {
		return c.moved(call, result, texts.Forked(result.Before, result.Before.Leaf))
	}
	return c.moved(call, result, texts.Resumed(result.Record, result.Previous, time.Now()))
}

// moved is the answer where a chat has another session now.
func (c *Commands) moved(call Call, result conversations.Result, text string) (Answer, error) {
	c.Moved(call.surface(), result.Record.ID)
	return Answer{Text: text, Post: sessions.PostResult{Session: result.Record.ID}}, nil
}

// fork copies the session, up to an entry of it, and goes on in the copy.
func (c *Commands) fork(ctx context.Context, call Call) (Answer, error) {
	request := conversations.ForkRequest{Place: call.here(), Quick: true}
	args := call.Command.Args
	seq, isEntry := entryOf(args)
	switch {
	case call.target == "":
		return say(texts.NoSession(call.Event.Surface))
	case call.placeless():
		return say(texts.NoPlaceHere)
	case args != "" && !isEntry && args != texts.BeforeFirst:
		return say(texts.ForkHow)
	case args != "":
		request.Entry = &seq
	}
	result, err := c.Room.Fork(ctx, call.caller(), call.target, request, call.Key)
	if err != nil {
		return Answer{}, err
	}
	leaf := result.Before.Leaf
	if request.Entry != nil {
		leaf = seq
	}
	return c.moved(call, result, texts.Forked(result.Before, leaf))
}

// name names the session.
func (c *Commands) name(ctx context.Context, call Call) (Answer, error) {
	name := call.Command.Args
	switch {
	case call.target == "":
		return say(texts.NoSession(call.Event.Surface))
	case name == "":
		record, err := c.Room.Get(ctx, call.caller(), call.target)
		return Answer{Text: texts.Name(record.Name)}, err
	}
	result, err := c.Room.Name(ctx, call.caller(), call.target, name, call.Key)
	return Answer{Text: texts.Named(name, result.Before.Name)}, err
}

// label labels an entry, or the newest message.
func (c *Commands) label(ctx context.Context, call Call) (Answer, error) {
	seq, label := entryAndText(call.Command.Args)
	switch {
	case call.target == "":
		return say(texts.NoSession(call.Event.Surface))
	case seq == 0 && label == "":
		return say(texts.LabelHow)
	}
	result, err := c.Room.Label(ctx, call.caller(), call.target, seq, label, call.Key)
	if err != nil {
		return Answer{}, err
	}
	for _, entry := range result.Entries {
		var written sessions.Label
		if json.Unmarshal(entry.Payload, &written) == nil {
			seq, _ = entryOf(written.TargetID)
		}
	}
	return say(texts.Labelled(seq, label))
}

// entryAndText splits "e12 some text": without an entry seq is 0.
func entryAndText(args string) (seq int64, text string) {
	head, rest, _ := strings.Cut(args, " ")
	if seq, ok := entryOf(head); ok {
		return seq, strings.TrimSpace(rest)
	}
	return 0, args
}

// entryOf reads an entry as people write it.
func entryOf(text string) (int64, bool) {
	seq, err := sessions.ParseEntryID(strings.ToLower(strings.Trim(text, "`")))
	return seq, err == nil && seq > 0
}

// tree draws the session's tree.
func (c *Commands) tree(ctx context.Context, call Call) (Answer, error) {
	record, err := c.held(ctx, call)
	if errors.Is(err, sessions.ErrNotFound) {
		return say(texts.NoSession(call.Event.Surface))
	}
	if err != nil {
		return Answer{}, err
	}
	tree, err := c.Room.Tree(ctx, call.caller(), record.ID, treeNodes)
	return Answer{Text: texts.Tree(tree.Draw(view.Drawing{Width: treeWidth, Lines: treeLines}))}, err
}

// branch moves the leaf.
func (c *Commands) branch(ctx context.Context, call Call) (Answer, error) {
	seq, isEntry := entryOf(call.Command.Args)
	switch {
	case call.target == "":
		return say(texts.NoSession(call.Event.Surface))
	case !isEntry && call.Command.Args != texts.BeforeFirst:
		return say(texts.BranchHow)
	}
	result, err := c.Room.Branch(ctx, call.caller(), call.target, seq, "", call.Key)
	return Answer{Text: texts.Branched(seq, result.Before.Leaf)}, err
}

// clear erases the session's entries.
func (c *Commands) clear(ctx context.Context, call Call) (Answer, error) {
	if call.target == "" {
		return say(texts.NoSession(call.Event.Surface))
	}
	_, err := c.Room.Clear(ctx, call.caller(), call.target, call.Key)
	if err == nil {
		c.Cleared(call.target)
	}
	return Answer{Text: texts.Cleared}, err
}
