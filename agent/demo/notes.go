package demo

import (
	"encoding/json"
	"fmt"
	"strings"

	"parley/agent"
)

// quoteMax is how much of a message the notes quote, in runes.
const quoteMax = 40

// notes are a checkpoint's: how much was said, and what came first and last.
func notes(in agent.CheckpointInput) string {
	first, last := "", ""
	if len(in.Said) > 0 {
		first, last = quote(in.Said[0].Text), quote(in.Said[len(in.Said)-1].Text)
	}
	said := "1 message"
	if count := len(in.Said); count != 1 {
		said = fmt.Sprintf("%d messages", count)
	}
	text, err := json.Marshal(agent.CheckpointNotes{
		Description:   "(demo) from " + first,
		WorkingMemory: fmt.Sprintf("The demo model understands nothing, it only counts.\n%s since the last checkpoint, from %s to %s.", said, first, last),
	})
	if err != nil { // texts always encode
		return ""
	}
	return string(text)
}

// quote is the beginning of a text, on one line.
func quote(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > quoteMax {
		text = string(runes[:quoteMax]) + "…"
	}
	return "“" + text + "”"
}
