package fakediscord

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
	"unicode/utf16"
)

// Limits of a message.
const (
	textMax    = 2000 // UTF-16 units; Discord does not say which unit, this is the larger count
	nonceMax   = 25
	flagsKnown = 1<<2 | 1<<12 // suppress embeds, suppress notifications
)

// sentMessage is what a client may send to make or change a message.
type sentMessage struct {
	Content         string           `json:"content"`
	AllowedMentions *allowedMentions `json:"allowed_mentions"`
	Nonce           string           `json:"nonce"`
	EnforceNonce    bool             `json:"enforce_nonce"`
	Flags           int              `json:"flags"`
	Reference       *struct {
		Type            int    `json:"type"`
		MessageID       string `json:"message_id"`
		ChannelID       string `json:"channel_id"`
		GuildID         string `json:"guild_id"`
		FailIfNotExists *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
}

type allowedMentions struct {
	Parse       json.RawMessage `json:"parse"`
	Users       []string        `json:"users"`
	Roles       []string        `json:"roles"`
	RepliedUser bool            `json:"replied_user"`
}

// check refuses what Discord refuses, and records what it does not refuse but
// a bot must not do.
func (s *Server) check(m sentMessage) *apiError {
	if m.AllowedMentions == nil || string(m.AllowedMentions.Parse) != "[]" || m.AllowedMentions.RepliedUser {
		s.violation("a message could ping people: its allowed_mentions are not closed")
	}
	if strings.TrimSpace(m.Content) == "" {
		return &apiError{status: http.StatusBadRequest, Code: 50006, Message: "Cannot send an empty message"}
	}
	if len(utf16.Encode([]rune(m.Content))) > textMax {
		return invalidForm("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
	}
	if len(m.Nonce) > nonceMax {
		return invalidForm("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	if m.EnforceNonce && m.Nonce == "" {
		return invalidForm("nonce", "BASE_TYPE_REQUIRED", "This field is required")
	}
	if m.Flags&^flagsKnown != 0 {
		return invalidForm("flags", "MESSAGE_FLAGS_INVALID", "Invalid flags")
	}
	return nil
}

func (s *Server) postMessage(r *http.Request, body []byte) (any, *apiError) {
	var in sentMessage
	if refused := s.decode(body, &in); refused != nil {
		return nil, refused
	}
	s.mu.Lock()
	c := s.world.channels[r.PathValue("channel")]
	s.mu.Unlock()
	if c == nil {
		return nil, unknown(10003, "Channel")
	}
	if refused := s.check(in); refused != nil {
		return nil, refused
	}
	m, fresh, refused := s.place(c, in)
	if refused != nil {
		return nil, refused
	}
	if fresh {
		s.emitMessage("MESSAGE_CREATE", m)
	}
	return s.messageJSON(m, true), nil
}

// place adds the bot's message, or finds the one that has its nonce already.
func (s *Server) place(c *channel, in sentMessage) (m *Message, fresh bool, refused *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.refuse != nil {
		return nil, false, c.refuse
	}
	m = &Message{Channel: c.ID, Author: s.bot, Text: in.Content, Nonce: in.Nonce, Flags: in.Flags}
	if in.Reference != nil {
		m.ReplyTo = in.Reference.MessageID
		if c.find(m.ReplyTo) == nil {
			if in.Reference.FailIfNotExists == nil || *in.Reference.FailIfNotExists {
				return nil, false, invalidForm("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
			}
			m.ReplyTo = ""
		}
	}
	if in.EnforceNonce {
		key := c.ID + " " + in.Nonce
		if known := s.world.nonces[key]; known != nil {
			return known, false, nil
		}
		s.world.nonces[key] = m
	}
	m.ID = s.idLocked(time.Now())
	c.messages = append(c.messages, m)
	return m, true, nil
}
