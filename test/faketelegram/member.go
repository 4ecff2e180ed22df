package faketelegram

import "fmt"

// Promote makes the bot an administrator of a chat: it is told of members by
// updates of their own, if it asks for them.
func (s *Server) Promote(chat int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chat].admin = true
}

// Leave takes the person out of a chat. Writing there again brings them back.
func (u *User) Leave(chat int64) { u.goFrom(chat, "left", &u.Person) }

// PutOut bans somebody from a chat.
func (u *User) PutOut(chat int64, who *User) { who.goFrom(chat, "kicked", &u.Person) }

// Slip takes the person out of a chat, and tells nobody.
func (u *User) Slip(chat int64) {
	u.server.mu.Lock()
	defer u.server.mu.Unlock()
	u.server.chats[chat].gone[u.ID] = "left"
}

func (u *User) goFrom(chat int64, status string, by *Person) {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.chats[chat]
	state.gone[u.ID] = status
	message := s.newMessageLocked(state, by)
	message.LeftChatMember = &u.Person
	s.injectLocked("message", message)
	if !state.admin {
		return
	}
	s.injectLocked("chat_member", map[string]any{
		"chat": state.chat, "from": by, "date": s.options.Now().Unix(),
		"old_chat_member": map[string]any{"user": u.Person, "status": "member"},
		"new_chat_member": map[string]any{"user": u.Person, "status": status},
	})
}

// getChatMember knows whoever has written in the chat.
func (s *Server) getChatMember(r request) (any, error) {
	id, err := r.integer("user_id", 0)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	state, err := s.targetLocked(r)
	if err != nil {
		return nil, err
	}
	status := state.gone[id]
	for _, message := range state.messages {
		if status == "" && message.From != nil && message.From.ID == id {
			status = "member"
		}
	}
	if status == "" {
		return nil, badRequest("PARTICIPANT_ID_INVALID")
	}
	return map[string]any{"user": map[string]any{"id": id, "is_bot": false, "first_name": fmt.Sprint(id)}, "status": status}, nil
}
