package bot

import (
	"strings"
	"time"

	"parley/agent"
	"parley/routing"
	"parley/sessions"
)

// request is what the model reads for a turn. Pure.
func request(record sessions.Record, surface string, persona string, now time.Time, read reading) agent.Request {
	out := agent.Request{System: agent.SystemPrompt(agent.PromptInput{
		Persona: persona, Now: now, Group: record.Source.Type == sessions.Group,
		BotName: textOf(record.Metadata, metaBotName), ChatTitle: textOf(record.Metadata, metaTitle), Surface: surface,
		Memory: record.WorkingMemory, Summary: read.summary,
	})}
	group := record.Source.Type == sessions.Group
	out.Messages = make([]agent.Message, 0, len(read.History)+1+len(read.Present))
	for _, block := range read.History {
		out.Messages = spoken(out.Messages, block, group)
	}
	if len(read.Unheard) > 0 {
		out.Messages = append(out.Messages, unheard(read.Unheard, group))
	}
	for _, block := range read.Present {
		out.Messages = spoken(out.Messages, block, group)
	}
	return out
}

// spoken appends a block as the model reads it.
func spoken(out []agent.Message, block sessions.Block, group bool) []agent.Message {
	if block.Unheard {
		return append(out, unheard(block.Lines, group))
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
			text = labelled(*m, group)
		}
		out = append(out, agent.Message{
			Role: m.Role, Text: text, ToolCalls: m.ToolCalls, CallID: m.CallID, ToolName: m.ToolName, IsError: m.IsError,
		})
	}
	return out
}

// unheard joins what people said among themselves into one message.
func unheard(lines []sessions.Line, group bool) agent.Message {
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = labelled(*line.Message, group)
	}
	return agent.Message{Role: sessions.RoleUser, Text: strings.Join(texts, "\n")}
}

// labelled is a person's message as the model reads it: in a group's
// conversation, wherever he spoke, with the speaker's label and, for an owner who spoke to nobody in particular, the
// prefix. Logged-only lines of others need no prefix: nothing answers them.
func labelled(m sessions.Message, group bool) string {
	text := m.Text
	if len(m.Attachments) > 0 {
		text = strings.TrimSpace("(with this came " + joinWords(kindWords(m.Attachments)) + ", which you cannot see)\n" + text)
	}
	if strings.TrimSpace(text) == "" {
		text = "(mentioned you, without a text)"
	}
	sender := sessions.Sender{}
	if m.Sender != nil {
		sender = *m.Sender
	}
	undirected := m.Decision == string(routing.ReasonOwnerUndirected)
	return routing.Label(sender.Name, sender.ID, m.Group || group, m.Directed, undirected, text)
}
