package routing

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Stripper is [StripReply] for a reply that arrives in pieces. What Write and
// Close return, joined, equals what StripReply shows of the whole reply, however it
// was cut, even inside a character; so nothing of a marker ever shows, and what
// was shown never has to be taken back.
//
// It holds back what a later piece could still change: the beginning of a
// marker with what stands before it, white space and back-ticks at the end,
// and a reply that begins with white space until it is decided whether the
// ends are trimmed, which is at the first marker or at Close. Whoever wants
// such a reply streamed drops its leading white space first. Time and memory
// are linear in the reply.
//
// The zero value is ready and strips silence markers only. A Stripper is for
// one reply and one goroutine.
type Stripper struct {
	// Labels also strips a leading label: set it for a group's replies, before
	// the first Write.
	Labels bool

	part   []byte // an unfinished character, at most 3 bytes
	hold   []byte // what may still change: white space, then back-ticks and fragments of markers
	space  int    // length of the white space at the beginning of hold
	ready  []byte // final, but not returned yet
	label  labelStripper
	hole   bool // a marker has just been taken out here
	gap    bool // white space touched the hole
	marked bool
	solid  bool // there is something besides white space and back-ticks
	open   bool // the beginning is decided: ready may be returned
	shown  bool // something was returned
	work   int  // elementary steps so far: lets a test prove that they are linear
}

// Write takes the next piece and returns what may be shown now.
func (s *Stripper) Write(delta string) string {
	s.part = append(s.part, delta...)
	used := 0
	for used < len(s.part) && utf8.FullRune(s.part[used:]) {
		used += s.step(s.part[used:])
	}
	s.part = append(s.part[:0], s.part[used:]...)
	return s.show(s.take(), false)
}

// Close ends the reply and returns what was held back of it. silent says that
// there was a marker and nothing was shown. The Stripper is used up.
func (s *Stripper) Close() (rest string, silent bool) {
	for used := 0; used < len(s.part); {
		used += s.step(s.part[used:])
	}
	s.part = nil
	if s.marked && s.endsInSpace() {
		s.hold, s.space = s.hold[:0], 0
	}
	s.flush()
	if s.marked && !s.solid {
		s.ready = nil
	}
	s.trimStart()
	s.open = true
	rest = s.show(s.take(), true)
	return rest, s.marked && !s.shown
}

// step takes one character and returns its length.
func (s *Stripper) step(text []byte) int {
	r, width := utf8.DecodeRune(text)
	chunk, space := text[:width], unicode.IsSpace(r)
	s.work++
	if s.hole && s.fill(chunk[0], space) {
		return width
	}
	s.push(chunk, space)
	return width
}

// fill closes the hole that a marker left, and reports whether the next
// character went with it: a back-tick that matches one before the hole, or
// white space, of which one space stays at most.
func (s *Stripper) fill(c byte, space bool) bool {
	if c == '`' && !s.gap && s.endsInTick() {
		s.hold = s.hold[:len(s.hold)-1]
		return true
	}
	if s.endsInSpace() {
		s.hold, s.space, s.gap = s.hold[:0], 0, true
	}
	if space {
		s.gap = true
		return true
	}
	gap := s.gap
	s.hole, s.gap = false, false
	if gap {
		s.push([]byte{' '}, true)
	}
	return false
}

// push appends one character and lets go of what it made final.
func (s *Stripper) push(chunk []byte, space bool) {
	if space {
		if len(s.hold) > s.space {
			s.flush() // no marker reaches back over white space
		}
		s.hold = append(s.hold, chunk...)
		s.space = len(s.hold)
		return
	}
	s.hold = append(s.hold, chunk...)
	if chunk[0] == '`' {
		return
	}
	switch end, length := endOf(s.hold[s.space:]); end {
	case endsInMarker:
		s.hold = s.hold[:len(s.hold)-length]
		s.hole, s.marked = true, true
	case endsInFragment:
	case endsOtherwise:
		s.flush()
	}
}

func (s *Stripper) endsInSpace() bool { return s.space > 0 && len(s.hold) == s.space }

func (s *Stripper) endsInTick() bool {
	return len(s.hold) > s.space && s.hold[len(s.hold)-1] == '`'
}

// flush makes hold final.
func (s *Stripper) flush() {
	s.work += len(s.hold)
	if !s.solid {
		s.solid = len(bytes.Trim(s.hold[s.space:], stressMarks)) > 0
	}
	s.ready = append(s.ready, s.hold...)
	s.hold, s.space = s.hold[:0], 0
}

// take returns what is final, once the beginning is decided.
func (s *Stripper) take() string {
	if !s.open && s.solid {
		s.trimStart()
		s.open = !startsWithSpace(s.ready)
	}
	if !s.open {
		return ""
	}
	s.work += len(s.ready)
	out := string(s.ready)
	s.ready = s.ready[:0]
	return out
}

// trimStart trims the beginning of a marked reply. What was returned already
// did not begin with white space.
func (s *Stripper) trimStart() {
	if s.marked && !s.open {
		s.ready = bytes.TrimLeftFunc(s.ready, unicode.IsSpace)
	}
}

func startsWithSpace(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return len(text) > 0 && unicode.IsSpace(r)
}

// show passes text on through the label stripper.
func (s *Stripper) show(text string, last bool) string {
	if s.Labels {
		text = s.label.write(text)
		if last {
			text += s.label.close(s.marked)
		}
	}
	s.shown = s.shown || text != ""
	return text
}
