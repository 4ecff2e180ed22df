package terminal

import tea "charm.land/bubbletea/v2"

// key acts on one key.
func (s *screen) key(press tea.KeyPressMsg) tea.Cmd {
	name := press.Keystroke()
	if name == "ctrl+c" {
		return s.interrupt()
	}
	s.armed, s.notice = false, ""
	switch name {
	case "enter":
		return s.submit()
	case "ctrl+d":
		if s.edit.isEmpty() {
			s.quit = true
			return nil
		}
		s.edit.deleteRight()
	case "up", "ctrl+p":
		s.olderOrUp()
	case "down", "ctrl+n":
		s.newerOrDown()
	default:
		if action, ok := s.edit.bindings()[name]; ok {
			action()
		} else if press.Text != "" {
			s.edit.insert(press.Text)
		}
	}
	return nil
}

// bindings are the keys of line editing.
func (e *editor) bindings() map[string]func() {
	return map[string]func(){
		"left": e.left, "ctrl+b": e.left,
		"right": e.right, "ctrl+f": e.right,
		"home": e.lineStart, "ctrl+a": e.lineStart,
		"end": e.lineEnd, "ctrl+e": e.lineEnd,
		"alt+b": e.wordLeft, "ctrl+left": e.wordLeft, "alt+left": e.wordLeft,
		"alt+f": e.wordRight, "ctrl+right": e.wordRight, "alt+right": e.wordRight,
		"backspace": e.backspace, "ctrl+h": e.backspace,
		"delete": e.deleteRight,
		"ctrl+w": func() { e.deleteTo(e.wordLeft) }, "alt+backspace": func() { e.deleteTo(e.wordLeft) },
		"alt+d":  func() { e.deleteTo(e.wordRight) },
		"ctrl+u": func() { e.deleteTo(e.lineStart) },
		"ctrl+k": func() { e.deleteTo(e.lineEnd) },
		// What terminals send for a line break that does not submit.
		"alt+enter": func() { e.insert("\n") }, "shift+enter": func() { e.insert("\n") }, "ctrl+j": func() { e.insert("\n") },
	}
}

func (s *screen) olderOrUp() {
	if s.edit.up() {
		return
	}
	if text, ok := s.browse.older(s.edit.text()); ok {
		s.edit.set(text)
	}
}

func (s *screen) newerOrDown() {
	if s.edit.down() {
		return
	}
	if text, ok := s.browse.newer(); ok {
		s.edit.set(text)
	}
}
