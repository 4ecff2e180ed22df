package transcript

import (
	"encoding/json"
	"strconv"

	"parley/sessions"
)

// turnLine is a line of a list of turns: an exchange, or a compaction.
type turnLine struct {
	Type           string            `json:"type"`
	Timestamp      instant           `json:"timestamp"`
	User           string            `json:"user"`
	Assistant      string            `json:"assistant"`
	ToolsUsed      []string          `json:"toolsUsed"`
	Tokens         *sessions.Tokens  `json:"tokens"`
	Messages       []json.RawMessage `json:"messages"`
	Summary        string            `json:"summary"`
	CompactedTurns int64             `json:"compactedTurns"`
}

// turn takes a line of a list of turns. Each entry stands below the one before
// it.
func (r *foreignReader) turn(line []byte) error {
	var t turnLine
	if err := json.Unmarshal(line, &t); err != nil {
		return r.lines.wrong("it cannot be read: %s", err)
	}
	switch t.Type {
	case "turn":
		return r.exchange(t)
	case string(sessions.EntryCompaction):
		body, err := json.Marshal(sessions.Compaction{Summary: t.Summary, CompactedTurns: t.CompactedTurns})
		r.chained(sessions.EntryCompaction, t, body)
		return err
	case headerType, turnHeaderType:
		return r.lines.wrong("a second header; these are two transcripts in one file")
	}
	return r.lines.wrong("there is no line type %.40q in a list of turns; there are turn and compaction", t.Type)
}

// chained keeps entries of one kind, below the last.
func (r *foreignReader) chained(kind sessions.EntryType, t turnLine, bodies ...json.RawMessage) {
	f := foreign{parsed: parsed{line: r.lines.number, kind: kind, time: t.Timestamp.Time, id: strconv.Itoa(len(r.parsed) + 1)}, bodies: bodies}
	if n := len(r.parsed); n > 0 {
		f.parent = r.parsed[n-1].id
	}
	r.ids[f.id] = len(r.parsed)
	r.keep(f)
}

// exchange is the messages of a turn, and by name the tools it used if their
// calls are not among them.
func (r *foreignReader) exchange(t turnLine) error {
	bodies, called, err := t.messages()
	if err != nil {
		return r.lines.wrong("its messages: %s", err)
	}
	r.chained(sessions.EntryMessage, t, bodies...)
	if len(t.ToolsUsed) == 0 || called {
		return nil
	}
	data, err := json.Marshal(t.ToolsUsed)
	if err != nil {
		return err
	}
	body, err := json.Marshal(sessions.CustomInfo{Name: "tools_used", Data: data})
	r.chained(sessions.EntryCustomInfo, t, body)
	return err
}

// messages are what was said: the whole chain where the line has it, with
// question and answer added where they are not in it.
func (t turnLine) messages() (bodies []json.RawMessage, called bool, err error) {
	asks, answers := true, true
	for _, value := range t.Messages {
		converted, err := messagesFrom(value)
		if err != nil {
			return nil, false, err
		}
		for _, body := range converted {
			var m sessions.Message
			if err := json.Unmarshal(body, &m); err != nil {
				return nil, false, err
			}
			called = called || len(m.ToolCalls) > 0
			asks = asks && m.Role != sessions.RoleUser
			answers = m.Role != sessions.RoleAssistant || m.Text == "" || len(m.ToolCalls) > 0
		}
		bodies = append(bodies, converted...)
	}
	if asks {
		body, err := json.Marshal(sessions.Message{Role: sessions.RoleUser, Text: t.User, Triggered: true})
		if err != nil {
			return nil, false, err
		}
		bodies = append([]json.RawMessage{body}, bodies...)
	}
	if !answers {
		return bodies, called, nil
	}
	body, err := json.Marshal(sessions.Message{Role: sessions.RoleAssistant, Text: t.Assistant, Tokens: t.Tokens})
	return append(bodies, body), called, err
}
