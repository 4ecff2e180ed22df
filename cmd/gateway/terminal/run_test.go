package terminal_test

import (
	"context"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/cmd/gateway/client/clienttest"
	"parley/cmd/gateway/terminal"
)

// tty is a terminal without a screen: what is typed, and all that was written.
type tty struct {
	t       *testing.T
	keys    *io.PipeWriter
	mu      sync.Mutex
	written strings.Builder
	more    chan struct{} // has one token after a write
	done    chan error
}

func (s *tty) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written.Write(p)
	select {
	case s.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (s *tty) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.String()
}

func (s *tty) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

// see waits until what was written contains text.
func (s *tty) see(text string) {
	s.t.Helper()
	late := time.After(time.Minute)
	for !strings.Contains(plainText(s.screen()), text) {
		select {
		case <-s.more:
		case <-late:
			s.t.Fatalf("%q never showed in\n%q", text, plainText(s.screen()))
		}
	}
}

var sequences = regexp.MustCompile(`\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b[=>()][A-Z0-9]?`)

func plainText(screen string) string { return sequences.ReplaceAllString(screen, "") }

func (s *tty) ends() {
	s.t.Helper()
	select {
	case err := <-s.done:
		if err != nil {
			s.t.Fatal(err)
		}
		s.done <- nil
	case <-time.After(time.Minute):
		s.t.Fatal("the chat did not end")
	}
}

func run(t *testing.T, gateway *clienttest.Gateway, historyPath string) *tty {
	t.Helper()
	history, err := terminal.OpenHistory(historyPath)
	if err != nil {
		t.Fatal(err)
	}
	reader, writer := io.Pipe()
	s := &tty{t: t, keys: writer, more: make(chan struct{}, 1), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	chat := chatWith(t, gateway)
	go func() {
		s.done <- terminal.Run(ctx, chat, terminal.Options{In: reader, Out: s, Environ: []string{"TERM=xterm-256color"},
			Color: true, Width: 80, Height: 24, History: history, Welcome: "Welcome **you**."})
	}()
	t.Cleanup(func() {
		cancel()
		_ = writer.Close()
		<-s.done
		_ = reader.Close()
	})
	return s
}

func TestChatOnATerminal(t *testing.T) {
	t.Parallel()
	gateway := fake(t)
	path := filepath.Join(t.TempDir(), "history")
	s := run(t, gateway, path)
	s.see("Welcome you.")
	s.press("hello\r")
	s.see("You said: hello")
	s.press("/help\r")
	s.see("You ran /help.")
	s.press("/new\r")
	s.see("You ran /new.")
	s.press("fresh\r")
	s.see("You said: fresh")
	gateway.Say("\x1b]0;owned\x07hostile")
	s.see("␛]0;owned␇hostile")
	s.press("\x1b[A\x1b[A\x1b[A\x1b[A!\r") // the oldest message, changed
	s.see("You said: hello!")
	s.press("\x04")
	s.ends()
	if strings.Contains(s.screen(), "\x1b]0;") {
		t.Error("an escape sequence of the model reached the terminal")
	}

	again := run(t, gateway, path)
	again.see("You said: hello!") // taken up where it stopped
	again.press("\x1b[A")
	again.see("hello!")
	again.press("\x03\x03")
	again.ends()
}

// A stream that stands hears late that its place has moved; the answer to the
// command that moved it says so at once.
func TestACommandsAnswerLeadsTheTerminal(t *testing.T) {
	t.Parallel()
	gateway := fake(t)
	s := run(t, gateway, "")
	s.press("hello\r")
	s.see("You said: hello")
	gateway.Mute()
	s.press("/new\r")
	s.see("You ran /new.")
	s.see("cli:main~2 · /help")
	s.press("fresh\r")
	s.see("You said: fresh")
	s.press("\x04")
	s.ends()
	if n := strings.Count(plainText(s.screen()), "You said: hello"); n != 1 {
		t.Errorf("the conversation before was shown %d times", n)
	}
}

func TestABrokenAnswerStaysOnTheTerminal(t *testing.T) {
	t.Parallel()
	s := run(t, fake(t), "")
	s.press("break\r")
	s.see("as far as")
	s.see("(broken off)")
	s.see("✗ My answer broke off. (the line broke)")
	s.see("/retry tries again")
	s.press("\x04")
	s.ends()
}

func TestInterruptStopsTheAnswer(t *testing.T) {
	t.Parallel()
	gateway := fake(t)
	s := run(t, gateway, "")
	s.press("wait\r")
	s.see("answering…")
	s.press("\x03")
	s.see("stopping…")
	gateway.Finish("as far as I got")
	s.see("(stopped)")
	s.press("x\x03")
	s.see("Ctrl-C again leaves")
	s.press("\x03")
	s.ends()
	if gateway.Stopped() != 1 {
		t.Errorf("stop was asked for %d times", gateway.Stopped())
	}
}

func TestPasteIsOneMessage(t *testing.T) {
	t.Parallel()
	s := run(t, fake(t), "")
	s.press("\x1b[200~one\rtwo\x1b[201~")
	s.see("two")
	s.press("\r")
	s.see("You said: one two")
	s.press("\x04")
	s.ends()
}

func TestRefusedMessageComesBack(t *testing.T) {
	t.Parallel()
	s := run(t, fake(t), "")
	s.press("refuse\r")
	s.see("Not sent: The store does not answer now.")
	s.press("d\r") // the text is there again, to be changed and sent
	s.see("You said: refused")
	s.press("\x04")
	s.ends()
}
