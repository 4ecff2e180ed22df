package transcript

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
)

// kindImport is the source of a session that another program wrote.
const kindImport = "import"

// head is a transcript's first line.
type head struct {
	header
	turns bool // what follows is a list of turns
}

// turnHeader is the first line of a list of turns.
type turnHeader struct {
	ChatID    any     `json:"chatId"`
	AgentID   string  `json:"agentId"`
	CreatedAt instant `json:"createdAt"`
	Version   int     `json:"version"`
}

func readHeader(lines *lineReader) (head, error) {
	line, err := lines.next()
	if errors.Is(err, io.EOF) {
		return head{}, &Error{Line: 1, Why: "the file is empty"}
	}
	if err != nil {
		return head{}, err
	}
	var start struct {
		Type    string          `json:"type"`
		Version json.RawMessage `json:"version"`
	}
	if err := json.Unmarshal(line, &start); err != nil {
		return head{}, lines.wrong("this is no transcript: a transcript is JSON Lines, and begins with its session_header")
	}
	switch start.Type {
	case headerType, turnHeaderType:
	default:
		return head{}, lines.wrong("this is no transcript of a kind that can be imported: its first line has the type %.40q, and must be a session_header (a tree of entries) or a header (a list of turns)", start.Type)
	}
	version := 0
	if start.Version != nil && json.Unmarshal(start.Version, &version) != nil || version < 0 || version > Version {
		return head{}, lines.wrong("it is a transcript of version %.20s, and this gateway reads version %d; use the gateway that wrote it", start.Version, Version)
	}
	if start.Type == turnHeaderType {
		return turnHead(lines, line)
	}
	return sessionHead(lines, line)
}

func sessionHead(lines *lineReader, line []byte) (head, error) {
	var h head
	if err := json.Unmarshal(line, &h.header); err != nil {
		return h, lines.wrong("the header cannot be read: %s", err)
	}
	return h, nil
}

// turnHead makes a header of that of a list of turns. The id is made of the
// agent's and the chat's.
func turnHead(lines *lineReader, line []byte) (head, error) {
	var t turnHeader
	if err := json.Unmarshal(line, &t); err != nil {
		return head{}, lines.wrong("the header cannot be read: %s", err)
	}
	chat, _ := t.ChatID.(string)
	if number, ok := t.ChatID.(float64); ok {
		encoded, _ := json.Marshal(number) // a number that was read can be written
		chat = string(encoded)
	}
	if chat == "" {
		return head{}, lines.wrong("its header has no chatId")
	}
	h := head{turns: true}
	h.ID = idFrom(kindImport + ":" + strings.Trim(t.AgentID+":"+chat, ":"))
	h.Timestamp, h.Agent = t.CreatedAt, t.AgentID
	return h, nil
}

// idFrom makes a session id of a text that may be none.
func idFrom(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("{}/", r) {
			return '-'
		}
		return r
	}, text)
}
