package fakediscord

import (
	"encoding/json"
	"net/http"
	"regexp"
	"time"
	"unicode/utf8"
)

// interactionFor is how long an interaction waits for its real answer.
const interactionFor = 15 * time.Minute

// Kinds of interaction and of first answers.
const (
	kindCommand     = 2
	kindComponent   = 3
	answerDeferred  = 5
	answerUnchanged = 6
)

type interaction struct {
	id, token, channel string
	kind               int
	began              time.Time
	answered           bool
	expired            bool
	message            *Message // the answer, once it is there
}

// Command is one slash command of the bot's menu.
type Command struct {
	Name             string           `json:"name"`
	Description      string           `json:"description"`
	Type             int              `json:"type"`
	Contexts         []int            `json:"contexts"`
	IntegrationTypes []int            `json:"integration_types"`
	Options          []map[string]any `json:"options"`
}

var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}]{1,32}$`)

func (s *Server) putCommands(r *http.Request, body []byte) (any, *apiError) {
	var commands []Command
	if refused := s.decode(body, &commands); refused != nil {
		return nil, refused
	}
	if r.PathValue("app") != s.app {
		return nil, unknown(10002, "Application")
	}
	if len(commands) > 100 {
		return nil, &apiError{status: http.StatusBadRequest, Code: 30032, Message: "Maximum number of application commands reached (100)"}
	}
	seen := map[string]bool{}
	for _, c := range commands {
		if n := utf8.RuneCountInString(c.Description); !commandName.MatchString(c.Name) || seen[c.Name] || n < 1 || n > 100 {
			return nil, invalidForm("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name or description is invalid")
		}
		seen[c.Name] = true
	}
	s.mu.Lock()
	s.commands = commands
	s.mu.Unlock()
	return commands, nil
}

// Commands is the menu that the bot has registered.
func (s *Server) Commands() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commands
}

// Command uses a slash command as a person and returns the interaction's id.
func (s *Server) Command(channel string, user User, name, args string) string {
	data := map[string]any{"id": s.id(), "name": name, "type": 1}
	if args != "" {
		data["options"] = []any{map[string]any{"name": "arguments", "type": 3, "value": args}}
	}
	return s.interact(channel, user, kindCommand, data, nil, time.Now())
}

// LateCommand is a command whose event arrives when its first answer is due no
// more, as after a resume.
func (s *Server) LateCommand(channel string, user User, name string) string {
	data := map[string]any{"id": s.id(), "name": name, "type": 1}
	return s.interact(channel, user, kindCommand, data, nil, time.Now().Add(-2*s.config.CallbackFor))
}

// Press presses a button of a message as a person.
func (s *Server) Press(channel string, user User, message, customID string) string {
	data := map[string]any{"custom_id": customID, "component_type": 2}
	return s.interact(channel, user, kindComponent, data, map[string]any{"id": message, "channel_id": channel}, time.Now())
}

func (s *Server) interact(channelID string, user User, kind int, data, message map[string]any, began time.Time) string {
	i := &interaction{id: s.id(), channel: channelID, kind: kind, began: began}
	i.token = "interaction-token-" + i.id + "-secret"
	s.mu.Lock()
	s.interactions[i.token] = i
	c := s.world.channels[channelID]
	event := map[string]any{
		"id": i.id, "application_id": s.app, "type": kind, "token": i.token, "version": 1, "data": data,
		"channel_id": channelID, "channel": channelJSON(c), "locale": "en-US", "context": 1,
	}
	if c.Guild == "" {
		event["user"] = userJSON(user)
	} else {
		event["guild_id"], event["context"] = c.Guild, 0
		event["member"] = map[string]any{"user": userJSON(user), "nick": nil, "roles": []any{}, "permissions": "0"}
	}
	if message != nil {
		event["message"] = message
	}
	s.mu.Unlock()
	s.Emit("INTERACTION_CREATE", event)
	return i.id
}

// Answered reports whether the interaction got its first answer in time.
func (s *Server) Answered(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.interactions {
		if i.id == id {
			return i.answered
		}
	}
	return false
}

// ExpireInteractions ends the fifteen minutes of all interactions.
func (s *Server) ExpireInteractions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.interactions {
		i.expired = true
	}
}

func (s *Server) postCallback(r *http.Request, body []byte) (any, *apiError) {
	var in struct {
		Type int             `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if refused := s.decode(body, &in); refused != nil {
		return nil, refused
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.interactions[r.PathValue("token")]
	switch {
	case i == nil || i.id != r.PathValue("interaction") || !i.answered && time.Since(i.began) > s.config.CallbackFor:
		return nil, unknown(10062, "interaction")
	case i.answered:
		return nil, &apiError{status: http.StatusBadRequest, Code: 40060, Message: "Interaction has already been acknowledged."}
	case i.kind == kindCommand && in.Type != answerDeferred, i.kind == kindComponent && in.Type != answerUnchanged:
		return nil, invalidForm("type", "BASE_TYPE_CHOICES", "the fake knows deferred answers only")
	}
	i.answered = true
	return nil, nil
}

func (s *Server) patchOriginal(r *http.Request, body []byte) (any, *apiError) {
	var in sentMessage
	if refused := s.decode(body, &in); refused != nil {
		return nil, refused
	}
	if refused := s.check(in); refused != nil {
		return nil, refused
	}
	m, refused := s.original(r, in)
	if refused != nil {
		return nil, refused
	}
	s.log.touch()
	return s.messageJSON(m, true), nil
}

func (s *Server) original(r *http.Request, in sentMessage) (*Message, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.interactions[r.PathValue("token")]
	if i == nil || r.PathValue("app") != s.app || i.expired || time.Since(i.began) > interactionFor {
		return nil, &apiError{status: http.StatusUnauthorized, Code: 50027, Message: "Invalid Webhook Token"}
	}
	if !i.answered || r.PathValue("message") != "@original" {
		return nil, unknown(10008, "Message")
	}
	if i.message == nil {
		c := s.world.channels[i.channel]
		i.message = &Message{ID: s.idLocked(time.Now()), Channel: c.ID, Author: s.bot, Interaction: i.id}
		c.messages = append(c.messages, i.message)
	}
	i.message.Text, i.message.Flags = in.Content, in.Flags
	return i.message, nil
}
