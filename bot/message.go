package bot

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/routing"
	"parley/sessions"
)

func newEntry(kind sessions.EntryType, payload any) (sessions.NewEntry, error) {
	encoded, err := json.Marshal(payload)
	return sessions.NewEntry{Type: kind, Payload: encoded}, err
}

// messagesOf decodes entries, passing over what is no message.
func messagesOf(entries []sessions.Entry) []sessions.Message {
	out := make([]sessions.Message, 0, len(entries))
	for _, entry := range entries {
		if m, err := entry.Message(); err == nil {
			out = append(out, m)
		}
	}
	return out
}

// unreadable are the words for what came with the messages and cannot be read.
func unreadable(messages []sessions.Message) []string {
	var files []sessions.Attachment
	for _, m := range messages {
		files = append(files, m.Attachments...)
	}
	return kindWords(files)
}

func anyText(messages []sessions.Message) bool {
	for _, m := range messages {
		if strings.TrimSpace(m.Text) != "" {
			return true
		}
	}
	return false
}

// ownerAlone: the turn was asked for by an owner in a direct chat.
func (r *run) ownerAlone() bool {
	if r.group {
		return false
	}
	for _, m := range r.asked {
		if m.Sender == nil || m.Sender.Role != string(routing.Owner) {
			return false
		}
	}
	return true
}

// undirected: nobody spoke to the bot, so that an answer of the gateway's own
// would be noise.
func (r *run) undirected() bool {
	return !slices.ContainsFunc(r.asked, func(m sessions.Message) bool { return !m.Group || m.Directed })
}

// firstLine is the first line of text that is not empty, at most limit runes.
func firstLine(text string, limit int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) <= limit {
		return line
	}
	return strings.TrimSpace(string([]rune(line)[:limit-1])) + "…"
}
