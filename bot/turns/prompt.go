package turns

import (
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/bot/texts"
	"parley/routing"
	"parley/sessions"
)

// request is what the model reads for a turn. Pure.
func request(record sessions.Record, surface string, persona string, now time.Time, read reading) agent.Request {
	group := record.Source.Type == sessions.Group
	here := speakersOf(read)
	out := agent.Request{System: agent.SystemPrompt(agent.PromptInput{
		Persona: persona, Now: now, Group: group, Speakers: here.roles(),
		BotName: wordOf(record.Metadata, texts.BotName), ChatTitle: wordOf(record.Metadata, texts.ChatTitle), Surface: surface,
		Memory: record.WorkingMemory, Summary: read.summary, Forwarded: anyForwarded(read),
	})}
	out.Messages = make([]agent.Message, 0, len(read.History)+1+len(read.Present))
	for _, block := range read.History {
		out.Messages = here.spoken(out.Messages, block, group)
	}
	if len(read.Unheard) > 0 {
		out.Messages = append(out.Messages, here.unheard(read.Unheard, group))
	}
	for _, block := range read.Present {
		out.Messages = here.spoken(out.Messages, block, group)
	}
	return out
}

// spoken appends a block as the model reads it.
func (s *speakers) spoken(out []agent.Message, block sessions.Block, group bool) []agent.Message {
	if block.Unheard {
		return append(out, s.unheard(block.Lines, group))
	}
	for _, line := range block.Lines {
		m := line.Message
		text := m.Text
		switch {
		case line.Entry.Type == sessions.EntryBranchSummary:
			text = "(What was said on another branch of this conversation, which was left, in short:)\n" + text
		case line.Entry.Type == sessions.EntryCustomMessage:
			text = "(A program says:)\n" + text
		case m.Role == sessions.RoleUser:
			text = s.labelled(*m, group)
		}
		out = append(out, agent.Message{
			Role: m.Role, Text: text, ToolCalls: m.ToolCalls, CallID: m.CallID, ToolName: m.ToolName, IsError: m.IsError,
		})
	}
	return out
}

// unheard joins what people said among themselves into one message.
func (s *speakers) unheard(lines []sessions.Line, group bool) agent.Message {
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = s.labelled(*line.Message, group)
	}
	return agent.Message{Role: sessions.RoleUser, Text: strings.Join(texts, "\n")}
}

// labelled is a person's message as the model reads it: in a group's
// conversation with the speaker's label, wherever they spoke, and with the
// prefix for an owner who spoke to nobody in particular. Logged-only lines of
// others need no prefix: nothing answers them. What came with a message stands
// behind its text, so that the text follows its label.
func (s *speakers) labelled(m sessions.Message, group bool) string {
	text := m.Text
	if len(m.Attachments) > 0 {
		text = strings.TrimSpace(text + "\n(with this came " + texts.Join(texts.Kinds(m.Attachments)) + ", which you cannot see)")
	}
	if strings.TrimSpace(text) == "" {
		text = "(mentioned you, without a text)"
	}
	said := routing.Said{
		Group: m.Group || group, Directed: m.Directed, OwnerUndirected: m.Decision == string(routing.ReasonOwnerUndirected),
		Forwarded: isForwarded(m), From: m.Via, Text: text,
	}
	if m.Forwarded != nil {
		said.From = m.Forwarded.From
	}
	if m.Sender != nil {
		said.Speaker = s.label(*m.Sender)
	}
	return routing.Label(said)
}

// isForwarded: the words are not the sender's own.
func isForwarded(m sessions.Message) bool { return m.Forwarded != nil || m.Via != "" }

// anyForwarded reports whether the model reads such words.
func anyForwarded(read reading) bool {
	some := func(lines []sessions.Line) bool {
		return slices.ContainsFunc(lines, func(line sessions.Line) bool { return isForwarded(*line.Message) })
	}
	inBlock := func(block sessions.Block) bool { return some(block.Lines) }
	return some(read.Unheard) || slices.ContainsFunc(read.History, inBlock) || slices.ContainsFunc(read.Present, inBlock)
}

func wordOf(metadata map[string]any, key string) string {
	text, _ := metadata[key].(string)
	return text
}
