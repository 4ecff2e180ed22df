package commands

import (
	"context"

	"parley/routing"
)

// row is what there is to know of one command.
type row struct {
	name string
	run  handler
	// about finds the session that the command is about. It is remembered
	// before anything is done to it: delivered again, the command means that
	// one, and another text under its key is refused. Nil: it takes no
	// arguments, and may be run again without harm.
	about finder
	// leads: it may give its place another conversation.
	leads bool
	// changes: it changes the conversation that is held where it is given.
	changes bool
	// informs: all it does is answer. Strangers hear it rarely.
	informs bool
	// secret: what was written with it must not be kept anywhere.
	secret bool
}

// handler carries out a command. Where its row has about, call.target and
// call.memory are set. A refusal of the conversations' room gets its words from
// whoever calls the handler.
type handler func(ctx context.Context, call Call) (Answer, error)

// finder finds the session that a command is about; empty: there is none. It
// may be refused, too.
type finder func(ctx context.Context, call Call) (session string, err error)

// nothing is the finder of a command that is about no session.
func nothing(context.Context, Call) (string, error) { return "", nil }

// table has a row for each command of routing. One that is missing, or too
// many, does not compile; a test compares the names.
func (c *Commands) table() [routing.CommandCount]row {
	return [...]row{
		{name: "start", run: c.start, informs: true},
		{name: "help", run: c.help, informs: true},
		{name: "whoami", run: c.whoami, informs: true},
		{name: "new", run: c.begin, about: nothing, leads: true, changes: true},
		{name: "status", run: c.status},
		{name: "stop", run: c.stop, changes: true},
		{name: "retry", run: c.retry, changes: true},
		{name: "schedule", run: c.schedule, about: nothing},
		{name: "sessions", run: c.sessions, about: nothing},
		{name: "resume", run: c.resume, about: c.named, leads: true},
		{name: "name", run: c.name, about: c.holding, changes: true},
		{name: "label", run: c.label, about: c.holding, changes: true},
		{name: "tree", run: c.tree},
		{name: "branch", run: c.branch, about: c.holding, changes: true},
		{name: "fork", run: c.fork, about: c.holding, leads: true},
		{name: "checkpoint", run: c.checkpoint, changes: true},
		{name: "clear", run: c.clear, about: c.holding, changes: true},
		{name: "link", run: c.link, about: nothing, secret: true},
		{name: "allow", run: c.allow, about: nothing},
		{name: "pair", run: c.pair, about: nothing},
		{name: "people", run: c.people, about: nothing},
	}
}

// Leads reports whether a command may give its place another conversation: the
// Session of its result.
func (c *Commands) Leads(name string) bool { return c.rows[name].leads }

// Secret reports whether what is written with a command must not be kept
// anywhere.
func (c *Commands) Secret(name string) bool { return c.rows[name].secret }
