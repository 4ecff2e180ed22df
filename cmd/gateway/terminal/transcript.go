package terminal

import (
	"strings"

	closing "parley/adapters/markdown"
	"parley/api"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/terminal/markdown"
	"parley/sessions"
)

// look says how things are shown.
type look struct {
	width int
	color bool
	self  string // the sender who sits here
}

func (l look) options() markdown.Options {
	return markdown.Options{Width: l.width, Color: l.color}
}

// paint writes clean text in a style of the terminal.
func (l look) paint(style, text string) string {
	if !l.color || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Styles.
const (
	styleDim    = "2"
	stylePrompt = "1;36"
	styleError  = "31"
)

// entry shows one line of the log; empty for what people need not see.
func (l look) entry(entry api.EntryView) string {
	switch entry.Type {
	case sessions.EntryMessage:
		message, err := messageOf(entry)
		if err != nil {
			return l.failure(err.Error())
		}
		return l.message(message)
	case sessions.EntryError:
		text, cause := errorOf(entry)
		if cause == "" { // nothing broke, as when a person stopped it
			return l.failure(text)
		}
		return l.failure(text+" ("+cause+")") + "\n" + l.paint(styleDim, l.plain("/retry tries again"))
	}
	return ""
}

func (l look) message(message sessions.Message) string {
	switch message.Role {
	case sessions.RoleUser:
		return l.said(l.speaker(message), message.Text)
	case sessions.RoleAssistant:
		return l.answer(message)
	case sessions.RoleTool:
		if message.IsError {
			return l.paint(styleDim, l.plain("✗ "+message.ToolName+" failed"))
		}
	}
	return ""
}

// speaker is the name of somebody else; empty for who sits here.
func (l look) speaker(message sessions.Message) string {
	if message.Sender == nil || message.Sender.ID == l.self {
		return ""
	}
	if message.Sender.Name != "" {
		return message.Sender.Name
	}
	return message.Sender.ID
}

// said shows what a person wrote, indented below the prompt sign.
func (l look) said(speaker, text string) string {
	if speaker != "" {
		text = speaker + ": " + text
	}
	inner := l
	inner.width -= 2
	lines := strings.Split(inner.plain(text), "\n")
	return l.paint(stylePrompt, "❯") + " " + strings.Join(lines, "\n  ")
}

func (l look) answer(message sessions.Message) string {
	var parts []string
	if message.Text != "" {
		parts = append(parts, markdown.Render(message.Text, l.options()))
	}
	for _, call := range message.ToolCalls {
		parts = append(parts, l.paint(styleDim, l.plain("→ "+call.Name)))
	}
	switch {
	case message.Silent:
		parts = append(parts, l.paint(styleDim, "(chose to say nothing)"))
	case message.Stopped:
		parts = append(parts, l.paint(styleDim, "(stopped)"))
	case message.Partial:
		parts = append(parts, l.paint(styleDim, "(broken off)"))
	}
	return strings.Join(parts, "\n")
}

func (l look) failure(text string) string { return l.paint(styleError, l.plain("✗ "+text)) }

func (l look) plain(text string) string { return markdown.Plain(text, l.options()) }

// draft is an answer that is being written.
type draft struct {
	turn int64
	base int // offset of text
	text string
}

// add puts a piece into its place. What lies before a missed piece is dropped.
func (d *draft) add(piece client.Delta) {
	if piece.Turn < d.turn || piece.Offset < 0 {
		return
	}
	if piece.Turn > d.turn {
		*d = draft{turn: piece.Turn, base: piece.Offset}
	}
	at := piece.Offset - d.base
	if at < 0 || at > len(d.text) {
		d.base, d.text, at = piece.Offset, "", 0
	}
	d.text = d.text[:at] + piece.Text
}

// draft shows an answer as far as it was written.
func (l look) draft(d draft) []string {
	if d.text == "" {
		return nil
	}
	text := d.text
	if d.base > 0 {
		text = "… " + text
	}
	return strings.Split(markdown.Render(closing.Close(text), l.options()), "\n")
}

// reply shows the gateway's own answer to a command.
func (l look) reply(text string) string { return markdown.Render(text, l.options()) }
