package terminal

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"

	tea "charm.land/bubbletea/v2"

	"parley/cmd/gateway/client"
	"parley/sessions"
)

// screen is the state of the chat on a terminal. Only the program's loop
// touches it.
type screen struct {
	ctx      context.Context //nolint:containedctx // bubbletea's commands get no context of their own
	chat     Chat
	follower *follower
	history  *History
	browse   browser
	edit     editor
	look     look
	height   int

	session string
	status  client.Status
	lost    error // the connection is broken, and why
	ended   bool  // there will be no more events
	draft   draft
	seen    int64 // the newest entry shown
	pending []outgoing
	notice  string // one line for the person
	armed   bool   // Ctrl-C was the last key

	print    []string // lines to be printed above the input, in order
	printing bool
	quit     bool
}

// outgoing is a message that was typed and is not in the log yet.
type outgoing struct {
	key, text string
	seq       int64 // 0: not answered yet
}

type (
	eventMsg   client.Event
	eventsEnd  struct{}
	printedMsg struct{}
	saidMsg    struct {
		sent    outgoing
		said    client.Said
		session string // where the conversation is now; empty: unchanged
		err     error
	}
	stopMsg struct {
		stopping bool
		err      error
	}
)

// Init begins to wait for events.
func (s *screen) Init() tea.Cmd { return tea.Batch(s.nextEvent, s.flush()) }

func (s *screen) nextEvent() tea.Msg {
	event, open := <-s.follower.events
	if !open {
		return eventsEnd{}
	}
	return eventMsg(event)
}

// Update takes one happening in.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.look.width, s.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		cmd = s.key(msg)
	case tea.PasteMsg:
		s.armed = false
		s.edit.insert(msg.Content)
	case eventMsg:
		s.event(client.Event(msg))
		cmd = s.nextEvent
	case eventsEnd:
		s.ended = true
	case saidMsg:
		s.saidBack(msg)
	case stopMsg:
		s.stopBack(msg)
	case printedMsg:
		s.printing = false
	}
	if s.quit {
		return s, tea.Quit
	}
	return s, tea.Batch(cmd, s.flush())
}

// flush prints what is waiting: one piece at a time, which keeps the order, and
// no more lines than fit above the view, because the library loses the view
// when it is pushed off the screen.
func (s *screen) flush() tea.Cmd {
	if s.printing || len(s.print) == 0 {
		return nil
	}
	piece := min(len(s.print), max(s.height-s.viewMax()-1, 1))
	text := strings.Join(s.print[:piece], "\n")
	s.print, s.printing = s.print[piece:], true
	return tea.Sequence(tea.Println(text), func() tea.Msg { return printedMsg{} })
}

// show puts a block above the input, an empty line after it.
func (s *screen) show(block string) {
	if block != "" {
		s.print = append(append(s.print, strings.Split(block, "\n")...), " ")
	}
}

// event takes in what happened in the conversation that is shown; one that was
// left meanwhile is no concern any more.
func (s *screen) event(event client.Event) {
	if event.Session != s.session {
		return
	}
	switch event.Kind {
	case client.KindConnected:
		s.lost = nil
	case client.KindLost:
		s.lost = event.Err
	case client.KindEntry:
		s.entry(event)
	case client.KindDelta:
		s.draft.add(event.Delta)
	case client.KindStatus:
		s.status = event.Status
		if s.status.Status != sessions.StatusRunning {
			s.draft.text = ""
		}
	case client.KindMoved:
		s.move(event.To)
	case client.KindGap:
		s.draft.text = ""
	}
}

// move shows the conversation that the place has now.
func (s *screen) move(session string) {
	s.session, s.seen, s.draft, s.status = session, 0, draft{}, client.Status{}
}

func (s *screen) entry(event client.Event) {
	s.seen = event.Entry.Seq
	s.settle()
	if event.Entry.Type == sessions.EntryMessage || event.Entry.Type == sessions.EntryError {
		s.draft.text = ""
	}
	s.show(s.look.entry(event.Entry))
}

// settle forgets the messages that are in the log now.
func (s *screen) settle() {
	kept := s.pending[:0]
	for _, sent := range s.pending {
		if sent.seq == 0 || sent.seq > s.seen {
			kept = append(kept, sent)
		}
	}
	s.pending = kept
}

// submit says what was written.
func (s *screen) submit() tea.Cmd {
	text := strings.TrimSpace(s.edit.text())
	if text == "" {
		return nil
	}
	if err := s.history.Add(text); err != nil {
		s.notice = err.Error()
	}
	s.browse = newBrowser(s.history.Lines())
	s.edit.clear()
	sent := outgoing{key: rand.Text(), text: text}
	s.pending = append(s.pending, sent)
	return s.say(sent, s.session)
}

func (s *screen) say(sent outgoing, session string) tea.Cmd {
	return func() tea.Msg {
		back := saidMsg{sent: sent}
		back.said, back.err = s.chat.Client.Say(s.ctx, session, sent.text, sent.key, s.chat.Sender)
		back.session = cmp.Or(back.said.MovedTo, client.MovedTo(back.err))
		return back
	}
}

func (s *screen) saidBack(back saidMsg) {
	if back.session != "" && back.session != s.session {
		s.move(back.session)
		s.follower.goTo(back.session)
	}
	if back.err != nil {
		s.notSaid(back)
		return
	}
	for i := range s.pending {
		if s.pending[i].key == back.sent.key {
			s.pending[i].seq = max(back.said.Seq, 0)
		}
	}
	if back.said.Seq == 0 {
		s.drop(back.sent.key)
		s.show(s.look.said("", back.sent.text))
	}
	if back.said.Reply != "" {
		s.show(s.look.reply(back.said.Reply))
	}
	s.settle()
}

// notSaid gives the text back to the person, who may send it again.
func (s *screen) notSaid(back saidMsg) {
	s.drop(back.sent.key)
	s.show(s.look.failure("Not sent: " + back.err.Error()))
	if s.edit.isEmpty() {
		s.edit.set(back.sent.text)
		return
	}
	s.show(s.look.said("", back.sent.text))
}

func (s *screen) drop(key string) {
	for i, sent := range s.pending {
		if sent.key == key {
			s.pending = append(s.pending[:i], s.pending[i+1:]...)
			return
		}
	}
}

func (s *screen) running() bool { return s.status.Status == sessions.StatusRunning }

// interrupt is Ctrl-C: it stops a running answer, else clears the input; the
// second one in a row leaves.
func (s *screen) interrupt() tea.Cmd {
	if s.armed {
		s.quit = true
		return nil
	}
	s.armed = true
	if s.running() {
		return s.stop(s.session)
	}
	s.edit.clear()
	return nil
}

func (s *screen) stop(session string) tea.Cmd {
	return func() tea.Msg {
		stopping, err := s.chat.Client.Stop(s.ctx, session)
		return stopMsg{stopping, err}
	}
}

func (s *screen) stopBack(back stopMsg) {
	if back.err != nil {
		s.show(s.look.failure("Not stopped: " + back.err.Error()))
	}
}
