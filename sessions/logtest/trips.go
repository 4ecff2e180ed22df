package logtest

import (
	"strings"
	"testing"

	"parley/sessions"
)

// Says is a message of Ada's, or behind "bot: " an answer.
func Says(tb testing.TB, seq, parent int64, text string) sessions.Entry {
	tb.Helper()
	m := sessions.Message{Role: sessions.RoleUser, Text: text, Sender: &sessions.Sender{Name: "Ada"}}
	if bot, found := strings.CutPrefix(text, "bot: "); found {
		m = sessions.Message{Role: sessions.RoleAssistant, Text: bot}
	}
	e := Entry(tb, seq, sessions.EntryMessage, m)
	e.Parent = parent
	return e
}

// Trips is a conversation with two branches, labels and things beside it.
func Trips(tb testing.TB) []sessions.Entry {
	tb.Helper()
	label := func(seq int64, target, text string) sessions.Entry {
		return Entry(tb, seq, sessions.EntryLabel, sessions.Label{TargetID: target, Label: text})
	}
	return []sessions.Entry{
		Says(tb, 1, 0, "plan a trip"),
		Says(tb, 2, 1, "bot: Where to?"),
		Says(tb, 3, 2, "Rome\nor so"),
		Says(tb, 4, 3, "bot: In spring it is warm, and there are fewer people than in the summer"),
		Entry(tb, 5, sessions.EntryTurn, struct{}{}),
		label(6, "e3", "wrong"),
		label(7, "e3", "first idea"), // below e6
		Entry(tb, 8, sessions.EntryLeaf, sessions.LeafEntry{TargetID: "e2"}),
		Says(tb, 9, 2, "Oslo"),
		Says(tb, 10, 9, "bot: <NO_REPLY>"),
		label(11, "e2", "x"),
		label(12, "e2", ""),
		{Seq: 13, Waiting: true, Type: sessions.EntryMessage, Payload: []byte(`{"role":"user"}`)},
	}
}
