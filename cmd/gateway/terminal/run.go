package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	tea "charm.land/bubbletea/v2"

	"parley/api"
)

// recentMax is how many entries of a conversation are read to show where it
// stopped.
const recentMax = 12

// Options say how the chat looks and what it remembers.
type Options struct {
	In      io.Reader
	Out     io.Writer
	Environ []string // of the terminal, as in TERM=xterm
	Color   bool
	Width   int // before the terminal says so itself
	Height  int
	History *History
	// Welcome is shown first; empty: nothing.
	Welcome string
}

// Run holds the chat on a terminal until the person leaves or ctx ends. It
// takes the conversation up where it stopped.
func Run(ctx context.Context, chat Chat, options Options) error {
	session, err := chat.Client.Resolve(ctx, chat.Name)
	if err != nil {
		return err
	}
	entries, newest, err := chat.Client.Recent(ctx, session, recentMax)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	follower := follow(chat.Client, session)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	following.Go(func() { follower.run(ctx, newest) })
	s := newScreen(ctx, chat, options, follower)
	s.session, s.seen = session, newest
	s.begin(options.Welcome, entries)
	return s.run(options)
}

func newScreen(ctx context.Context, chat Chat, options Options, follower *follower) *screen {
	return &screen{
		ctx: ctx, chat: chat, follower: follower, history: options.History, browse: newBrowser(options.History.Lines()),
		look:   look{width: options.Width, color: options.Color, self: string(chat.Sender.ID)},
		height: options.Height,
	}
}

// begin shows the welcome and where the conversation stopped.
func (s *screen) begin(welcome string, entries []api.EntryView) {
	if welcome != "" {
		s.show(s.look.reply(welcome))
	}
	for _, entry := range entries {
		s.show(s.look.entry(entry))
	}
}

func (s *screen) run(options Options) error {
	program := tea.NewProgram(s, tea.WithContext(s.ctx), tea.WithInput(options.In), tea.WithOutput(options.Out),
		tea.WithEnvironment(options.Environ), tea.WithWindowSize(options.Width, options.Height), tea.WithoutSignalHandler())
	_, err := program.Run()
	leftFromOutside := errors.Is(err, tea.ErrProgramKilled) && s.ctx.Err() != nil
	if err == nil || leftFromOutside {
		return nil
	}
	return fmt.Errorf("the terminal: %w", err)
}
