package conversations

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/sessions"
)

// Limits. Each counts at every door.
const (
	NameMax  = 80       // runes of a conversation's name
	LabelMax = 200      // bytes of a label, and of a custom entry's name
	TextMax  = 64 << 10 // bytes of a text written by hand: a custom entry's, a summary
	KeyMax   = 200      // bytes of an idempotency key
	ForkMax  = 20_000   // entries of a log that is copied while somebody waits in a chat
)

// CheckName refuses a name that is no single line of at most NameMax runes that
// shows. The empty name is one.
func CheckName(name string) error {
	if utf8.RuneCountInString(name) > NameMax || !oneLine(name) {
		return refuse(Invalid, fmt.Sprintf("A name is one line of at most %d characters.", NameMax), nil)
	}
	return nil
}

// CheckLabel refuses a label that is no single line of at most LabelMax bytes.
func CheckLabel(label string) error {
	if len(label) > LabelMax || !oneLine(label) {
		return refuse(Invalid, fmt.Sprintf("A label is one line of at most %d bytes.", LabelMax), nil)
	}
	return nil
}

// oneLine: UTF-8 without what ends a line, cannot be seen, or turns the
// direction of what stands behind it.
func oneLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	})
}

// CheckOwnID refuses an id that somebody wants for a new session: none that
// cannot be one, none that only the gateway makes (schedules', sub-agents' and
// flows'), and none that the caller could not reach.
func CheckOwnID(by Caller, id string) error {
	if err := sessions.CheckID(id); err != nil {
		return err
	}
	if !oneLine(id) {
		return &sessions.InvalidError{What: "session id", Why: "it must not contain control characters or changes of the writing direction"}
	}
	for _, prefix := range []string{"schedule:", "sub:", "flow:"} {
		if strings.HasPrefix(id, prefix) {
			return reserved(prefix)
		}
	}
	if strings.Contains(id, "__") {
		return reserved("__")
	}
	return mayName(by, id)
}

func reserved(what string) error {
	return refuse(Reserved, "Only the gateway itself makes sessions whose id begins with schedule:, sub: or flow:, or contains __ (this one has "+what+"). Choose another id, or leave it out.", nil)
}

// mayName refuses an id that the caller could not reach if there were a
// session with it.
func mayName(by Caller, id string) error {
	if by.Namespace == "" {
		return nil
	}
	return sessions.Reach(sessions.Record{ID: id}, sessions.Caller{Namespace: by.Namespace})
}
