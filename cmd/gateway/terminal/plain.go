package terminal

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"parley/api"
	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/terminal/markdown"
	"parley/sessions"
)

// Chat is a conversation and the gateway it is held with.
type Chat struct {
	Client *client.Client
	Name   string // the terminal name; its session is cli:{name} or a later one
	Sender client.Sender
}

// Plain says every line of in as one message, waits for its answer, and writes
// the answer's text to out; with asJSON the answer's entries, one JSON object
// per line. Empty lines are left out. It ends at the first failure, with an
// error that says what to do.
func Plain(ctx context.Context, chat Chat, in io.Reader, out io.Writer, asJSON bool) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4096), api.TextMax+2)
	p := plain{chat: chat, out: out, asJSON: asJSON}
	for lines.Scan() {
		text := strings.TrimRight(lines.Text(), "\r")
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := p.exchange(ctx, text); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d bytes; send it in parts", api.TextMax)
	}
	return lines.Err()
}

// Once says one message, and writes its answer as [Plain] does.
func Once(ctx context.Context, chat Chat, text string, out io.Writer, asJSON bool) error {
	p := plain{chat: chat, out: out, asJSON: asJSON}
	return p.exchange(ctx, text)
}

type plain struct {
	chat    Chat
	out     io.Writer
	asJSON  bool
	session string // empty: to be found out
	newest  int64
}

func (p *plain) exchange(ctx context.Context, text string) error {
	if err := p.find(ctx); err != nil {
		return err
	}
	key := rand.Text()
	said, err := p.chat.Client.Say(ctx, p.session, text, key, p.chat.Sender)
	if moved := client.MovedTo(err); moved != "" { // a line is meant for the name, wherever that is
		p.session = moved
		if err := p.find(ctx); err != nil {
			return err
		}
		said, err = p.chat.Client.Say(ctx, p.session, text, key, p.chat.Sender)
	}
	if err != nil {
		return err
	}
	if said.Session == "" {
		said.Session = p.session
	}
	if said.Reply != "" {
		err = p.reply(said)
	}
	if err != nil || !said.Turn {
		p.session = "" // a command may have begun another conversation
		return err
	}
	p.session = said.Session
	return p.answer(ctx, said)
}

// find makes sure that the session and its newest entry are known.
func (p *plain) find(ctx context.Context) error {
	var err error
	if p.session == "" {
		if p.session, err = p.chat.Client.Resolve(ctx, p.chat.Name); err != nil {
			return err
		}
	}
	_, p.newest, err = p.chat.Client.Recent(ctx, p.session, 1)
	return err
}

func (p *plain) answer(ctx context.Context, said client.Said) error {
	var failure error
	failed, err := p.chat.Client.Await(ctx, said, p.newest, func(entry api.EntryView) {
		if err := p.entry(entry); err != nil && failure == nil {
			failure = err
		}
	})
	switch {
	case err != nil:
		return err
	case failure != nil:
		return failure
	case failed != nil:
		return p.failed(*failed)
	}
	return nil
}

func (p *plain) entry(entry api.EntryView) error {
	if p.asJSON {
		return p.json(entry)
	}
	message, err := messageOf(entry)
	if err != nil || message.Role != sessions.RoleAssistant || message.Text == "" {
		return err
	}
	return p.line(message.Text)
}

func (p *plain) reply(said client.Said) error {
	if p.asJSON {
		return p.json(said)
	}
	return p.line(said.Reply)
}

func (p *plain) failed(entry api.EntryView) error {
	if p.asJSON {
		if err := p.json(entry); err != nil {
			return err
		}
	}
	text, cause := errorOf(entry)
	if cause != "" {
		text += " (" + cause + ")"
	}
	return errors.New(text)
}

func (p *plain) line(text string) error {
	_, err := fmt.Fprintln(p.out, markdown.Clean(text))
	return err
}

// json writes one line of JSON that is safe to look at.
func (p *plain) json(value any) error { return json.NewEncoder(cli.Escaped(p.out)).Encode(value) }

func messageOf(entry api.EntryView) (sessions.Message, error) {
	var message sessions.Message
	if err := json.Unmarshal(entry.Payload, &message); err != nil {
		return message, fmt.Errorf("entry %s cannot be read: %w", entry.ID, err)
	}
	return message, nil
}

// errorOf reads an error entry: what people are told, and the cause.
func errorOf(entry api.EntryView) (text, cause string) {
	var failure sessions.ErrorEntry
	if json.Unmarshal(entry.Payload, &failure) != nil || failure.Text == "" {
		return "the answer failed", ""
	}
	return failure.Text, failure.Cause
}
