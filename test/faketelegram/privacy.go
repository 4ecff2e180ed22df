package faketelegram

import "strings"

// visibleLocked reports whether the bot gets to see a message: everything in
// private chats and channels; in groups never other bots' messages, and in
// privacy mode only service messages, commands for it (without a name only if
// it spoke last), and replies to it.
func (s *Server) visibleLocked(state *chatState, message *Message) bool {
	if state.chat.Type == "private" || state.chat.Type == "channel" {
		return true
	}
	if message.From != nil && message.From.IsBot && message.SenderChat == nil {
		return false
	}
	if s.options.ReadAllGroupMessages {
		return true
	}
	if message.ReplyTo != nil && message.ReplyTo.From != nil && message.ReplyTo.From.ID == s.me.ID {
		return true
	}
	return s.commandForUsLocked(state, message.Text)
}

func (s *Server) commandForUsLocked(state *chatState, text string) bool {
	command, _, _ := strings.Cut(text, " ")
	if !strings.HasPrefix(command, "/") {
		return false
	}
	_, name, addressed := strings.Cut(command, "@")
	if addressed {
		return strings.EqualFold(name, s.me.Username)
	}
	return state.lastIsBot
}
