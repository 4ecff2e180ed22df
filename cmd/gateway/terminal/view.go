package terminal

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"parley/cmd/gateway/terminal/markdown"
)

// viewMax is how many lines of the screen the view may take; the other half is
// for what was said.
func (s *screen) viewMax() int { return max(s.height/2, 3) }

// inputMax is how many lines of what is being written are shown.
func (s *screen) inputMax() int { return max(s.viewMax()/2, 1) }

const prompt = "❯ "

// View draws the changing part: the answer that grows, what is on its way, one
// line of state, and the input. All else was printed above and scrolls away.
func (s *screen) View() tea.View {
	if s.quit {
		return tea.NewView("")
	}
	input, x, y := s.input()
	room := s.viewMax() - len(input) - 1
	below := lastLines(s.waiting(), room)
	lines := lastLines(s.look.draft(s.draft), room-len(below)-1)
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	lines = append(append(lines, below...), s.state())
	view := tea.NewView(strings.Join(append(lines, input...), "\n"))
	view.Cursor = tea.NewCursor(x, len(lines)+y)
	return view
}

// waiting are the messages that are on their way.
func (s *screen) waiting() []string {
	var lines []string
	for _, sent := range s.pending {
		lines = append(lines, strings.Split(s.look.paint(styleDim, s.look.said("", sent.text)), "\n")...)
	}
	return lines
}

func lastLines(lines []string, room int) []string {
	return lines[max(len(lines)-max(room, 0), 0):]
}

// state is one line on what goes on.
func (s *screen) state() string {
	switch {
	case s.ended && !s.armed:
		return s.look.paint(styleError, s.oneLine("The gateway does not let this chat go on. Leave with Ctrl-D and start it again."))
	case s.lost != nil:
		return s.look.paint(styleError, s.oneLine("Connection lost, trying again: "+s.lost.Error()))
	case s.armed && s.running():
		return s.look.paint(styleDim, "stopping… · Ctrl-C again leaves")
	case s.armed:
		return s.look.paint(styleDim, "Ctrl-C again leaves")
	case s.notice != "":
		return s.look.paint(styleDim, s.oneLine(s.notice))
	case s.running():
		return s.look.paint(styleDim, "answering… · Ctrl-C stops")
	}
	return s.look.paint(styleDim, s.oneLine(s.session+" · /help · Alt-Enter new line · Ctrl-D leaves"))
}

func (s *screen) oneLine(text string) string {
	return displaywidth.TruncateString(strings.ReplaceAll(markdown.Clean(text), "\n", " "), s.look.width, "…")
}

// input is what is being written behind the prompt, and the cursor's place.
// Of a long text the lines around the cursor show.
func (s *screen) input() (lines []string, x, y int) {
	lines, x, y = s.edit.wrapped(max(s.look.width-len([]rune(prompt))-1, 1))
	first := max(y-s.inputMax()+1, 0)
	lines, y = lines[first:min(first+s.inputMax(), len(lines))], y-first
	for i, line := range lines {
		lead := "  "
		if i == 0 {
			lead = s.look.paint(stylePrompt, prompt)
		}
		lines[i] = lead + line
	}
	return lines, x + len([]rune(prompt)), y
}
