package faketelegram

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// textMax is the longest text after entity parsing, in UTF-16 code units.
const textMax = 4096

func (s *Server) sendMessage(r request) (any, error) {
	s.mu.Lock()
	sent, message, err := s.sendLocked(r)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if s.options.OnSend != nil {
		s.options.OnSend(sent)
	}
	return message, nil
}

func (s *Server) sendLocked(r request) (Sent, *Message, error) {
	state, err := s.targetLocked(r)
	if err != nil {
		return Sent{}, nil, err
	}
	text, entities, err := parseText(r)
	if err != nil {
		return Sent{}, nil, err
	}
	reply, err := replyLocked(state, r.params["reply_parameters"])
	if err != nil {
		return Sent{}, nil, err
	}
	thread, err := threadLocked(state, r)
	if err != nil {
		return Sent{}, nil, err
	}
	message := s.newMessageLocked(state, &s.me)
	message.Text, message.Entities, message.ReplyTo = text, entities, flat(reply)
	message.MessageThreadID, message.IsTopicMessage = thread, thread != 0
	sent := Sent{Chat: state.chat.ID, Thread: thread, MessageID: message.MessageID, Text: text, Entities: entities, Source: r.params["text"]}
	if reply != nil {
		sent.ReplyTo = reply.MessageID
	}
	state.sent = append(state.sent, sent)
	if keep := s.options.KeepCalls; keep > 0 && len(state.sent) > 2*keep {
		state.sent = append([]Sent(nil), state.sent[len(state.sent)-keep:]...)
	}
	state.lastIsBot = true
	s.notifyLocked()
	return sent, message, nil
}

// targetLocked finds the chat a call is for, or why it cannot be written to.
func (s *Server) targetLocked(r request) (*chatState, error) {
	id, err := r.integer("chat_id", 0)
	if err != nil || id == 0 {
		return nil, badRequest("chat not found")
	}
	state := s.chats[id]
	if state == nil {
		return nil, badRequest("chat not found")
	}
	if state.refusal != nil {
		return nil, state.refusal
	}
	return state, nil
}

func parseText(r request) (string, []Entity, error) {
	text := r.params["text"]
	var entities []Entity
	switch r.params["parse_mode"] {
	case "":
	case "HTML":
		var err error
		if text, entities, err = ParseHTML(text); err != nil {
			return "", nil, err
		}
		if entities, err = bounded(entities); err != nil {
			return "", nil, err
		}
	default:
		return "", nil, badRequest("unsupported parse_mode")
	}
	if err := strictOption(r.params["link_preview_options"], &struct {
		IsDisabled bool   `json:"is_disabled"`
		URL        string `json:"url"`
	}{}); err != nil {
		return "", nil, err
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", nil, badRequest("message text is empty")
	}
	if UTF16Length(text) > textMax {
		return "", nil, badRequest("message is too long")
	}
	return text, entities, nil
}

// strictOption decodes a JSON parameter and refuses unknown fields.
func strictOption(text string, into any) error {
	if text == "" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return badRequest("can't parse parameter: " + err.Error())
	}
	return nil
}

func replyLocked(state *chatState, text string) (*Message, error) {
	var reply struct {
		MessageID  int64 `json:"message_id"`
		AllowMiss  bool  `json:"allow_sending_without_reply"`
		FromChatID int64 `json:"chat_id"`
	}
	if err := strictOption(text, &reply); err != nil || text == "" {
		return nil, err
	}
	message := state.messages[reply.MessageID]
	if message == nil && !reply.AllowMiss {
		return nil, badRequest("message to be replied not found")
	}
	return message, nil
}

func threadLocked(state *chatState, r request) (int64, error) {
	thread, err := r.integer("message_thread_id", 0)
	if err != nil {
		return 0, err
	}
	if thread != 0 && !state.threads[thread] {
		return 0, badRequest("message thread not found")
	}
	return thread, nil
}

func (s *Server) editMessageText(r request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, err := s.targetLocked(r)
	if err != nil {
		return nil, err
	}
	id, err := r.integer("message_id", 0)
	if err != nil {
		return nil, err
	}
	text, entities, err := parseText(r)
	if err != nil {
		return nil, err
	}
	message := state.messages[id]
	switch {
	case message == nil:
		return nil, badRequest("message to edit not found")
	case message.From == nil || message.From.ID != s.me.ID:
		return nil, badRequest("message can't be edited")
	case message.Text == text && sameEntities(message.Entities, entities):
		return nil, badRequest("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	edited := *message
	edited.Text, edited.Entities, edited.EditDate = text, entities, s.options.Now().Unix()
	state.messages[id] = &edited
	s.notifyLocked()
	return &edited, nil
}

func sameEntities(a, b []Entity) bool {
	left, _ := json.Marshal(a)
	right, _ := json.Marshal(b)
	return bytes.Equal(left, right)
}

func (s *Server) deleteMessage(r request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, err := s.targetLocked(r)
	if err != nil {
		return nil, err
	}
	id, err := r.integer("message_id", 0)
	if err != nil {
		return nil, err
	}
	if state.messages[id] == nil {
		return nil, badRequest("message to delete not found")
	}
	delete(state.messages, id)
	s.notifyLocked()
	return true, nil
}

func (s *Server) sendChatAction(r request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, err := s.targetLocked(r)
	if err != nil {
		return nil, err
	}
	if _, err := threadLocked(state, r); err != nil {
		return nil, err
	}
	if r.params["action"] != "typing" {
		return nil, badRequest("wrong parameter action in request")
	}
	return true, nil
}

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

func (s *Server) setMyCommands(r request) (any, error) {
	var commands []struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	if err := strictOption(r.params["commands"], &commands); err != nil {
		return nil, err
	}
	if len(commands) > 100 {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for _, command := range commands {
		if !commandName.MatchString(command.Command) {
			return nil, badRequest("BOT_COMMAND_INVALID")
		}
		if n := len([]rune(command.Description)); n < 1 || n > 256 {
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	scope, err := scopeOf(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands[scope] = r.params["commands"]
	return true, nil
}

func scopeOf(r request) (string, error) {
	var scope struct {
		Type   string `json:"type"`
		ChatID int64  `json:"chat_id"`
	}
	if r.params["scope"] == "" {
		return "default", nil
	}
	if err := strictOption(r.params["scope"], &scope); err != nil {
		return "", err
	}
	if scope.ChatID != 0 {
		return scope.Type + ":" + strconv.FormatInt(scope.ChatID, 10), nil
	}
	return scope.Type, nil
}

func (s *Server) deleteMyCommands(r request) (any, error) {
	scope, err := scopeOf(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.commands, scope)
	return true, nil
}

func (s *Server) getMyCommands(r request) (any, error) {
	scope, err := scopeOf(r)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(s.Commands(scope)), nil
}

// Commands is the menu of a scope (default, all_group_chats, …) as JSON.
func (s *Server) Commands(scope string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.commands[scope] == "" {
		return "[]"
	}
	return s.commands[scope]
}
