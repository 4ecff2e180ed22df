package faketelegram

// chatState is one chat of the bot.
type chatState struct {
	chat       Chat
	nextID     int64
	messages   map[int64]*Message // by id, the bot's and people's
	threads    map[int64]bool
	sent       []Sent
	refusal    *apiError // answers every send, e.g. blocked
	lastIsBot  bool      // the bot was the last to speak
	migratedTo int64
	gone       map[int64]string // who is not in it any more, and their status
	admin      bool             // the bot is an administrator
}

func (s *Server) addChatLocked(chat Chat) *chatState {
	if state := s.chats[chat.ID]; state != nil {
		return state
	}
	state := &chatState{chat: chat, nextID: 1, messages: map[int64]*Message{}, threads: map[int64]bool{}, gone: map[int64]string{}}
	s.chats[chat.ID] = state
	return state
}

// Group makes a basic group (negative id) and returns its id.
func (s *Server) Group(id int64, title string) int64 {
	return s.addChat(Chat{ID: id, Type: "group", Title: title})
}

// Supergroup makes a supergroup and returns its id.
func (s *Server) Supergroup(id int64, title string) int64 {
	return s.addChat(Chat{ID: id, Type: "supergroup", Title: title})
}

// Forum makes a supergroup with topics and returns its id.
func (s *Server) Forum(id int64, title string) int64 {
	return s.addChat(Chat{ID: id, Type: "supergroup", Title: title, IsForum: true})
}

func (s *Server) addChat(chat Chat) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addChatLocked(chat)
	return chat.ID
}

// Topic makes a topic in a forum and returns its thread id.
func (s *Server) Topic(forum int64, creator *User) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.chats[forum]
	message := s.newMessageLocked(state, &creator.Person)
	message.MessageThreadID, message.IsTopicMessage = message.MessageID, true
	message.ForumTopicCreated = &struct{}{}
	state.threads[message.MessageID] = true
	s.injectLocked("message", message)
	return message.MessageID
}

// CloseTopic forgets a topic: sends into it find no thread.
func (s *Server) CloseTopic(forum, thread int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.chats[forum].threads, thread)
}

// Join adds the bot to a chat.
func (s *Server) Join(chat int64, by *User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.chats[chat]
	state.refusal = nil
	s.memberLocked(state, by, "left", "member")
}

func (s *Server) memberLocked(state *chatState, by *User, before, now string) {
	member := func(status string) map[string]any { return map[string]any{"user": s.me, "status": status} }
	s.injectLocked("my_chat_member", map[string]any{
		"chat": state.chat, "from": by.Person, "date": s.options.Now().Unix(),
		"old_chat_member": member(before), "new_chat_member": member(now),
	})
}

// Migrate turns a group into the supergroup with the given id: both service
// messages are queued, and sends to the old id are told the new one.
func (s *Server) Migrate(group, supergroup int64, by *User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.chats[group]
	old.migratedTo = supergroup
	old.refusal = &apiError{Code: 400, Description: "Bad Request: group chat was upgraded to a supergroup chat", Parameters: map[string]int64{"migrate_to_chat_id": supergroup}}
	heir := s.addChatLocked(Chat{ID: supergroup, Type: "supergroup", Title: old.chat.Title})
	leaving := s.newMessageLocked(old, &by.Person)
	leaving.MigrateToChatID = supergroup
	s.injectLocked("message", leaving)
	arriving := s.newMessageLocked(heir, &Person{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"})
	arriving.SenderChat = &heir.chat
	arriving.MigrateFromChatID = group
	s.injectLocked("message", arriving)
}

func (s *Server) newMessageLocked(state *chatState, from *Person) *Message {
	message := &Message{MessageID: state.nextID, From: from, Chat: state.chat, Date: s.options.Now().Unix()}
	state.nextID++
	state.messages[message.MessageID] = message
	return message
}
