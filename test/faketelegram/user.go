package faketelegram

// User is a person who talks to the bot.
type User struct {
	Person
	server *Server
}

// User makes a person. A username is optional.
func (s *Server) User(id int64, firstName, username string) *User {
	return &User{Person: Person{ID: id, FirstName: firstName, Username: username}, server: s}
}

// DM is the id of the person's private chat with the bot, which exists from
// the first call on.
func (u *User) DM() int64 {
	return u.server.addChat(Chat{ID: u.ID, Type: "private", FirstName: u.FirstName, Username: u.Username})
}

// SendOptions say what a message has besides its text.
type SendOptions struct {
	ReplyTo  int64 // message id in the same chat
	Thread   int64 // forum topic
	Photo    bool  // the text is its caption
	Document *File
	Voice    bool
	As       *Chat    // sent on behalf of this chat: an anonymous administrator, a channel
	Entities []Entity // besides those that the server finds itself
	// NoEntities leaves out the entities that the server finds, as some
	// clients' formatted messages do.
	NoEntities bool
	// ID replaces the message id; -1 is 0, which scheduled messages have.
	ID int64
}

// Posted is what became of something a person did.
type Posted struct {
	MessageID int64
	UpdateID  int64 // 0: the server holds it back, e.g. for privacy mode
}

// Send writes a message.
func (u *User) Send(chat int64, text string, options ...SendOptions) Posted {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	var o SendOptions
	if len(options) > 0 {
		o = options[0]
	}
	state := s.chats[chat]
	delete(state.gone, u.ID)
	message := s.newMessageLocked(state, &u.Person)
	s.composeLocked(state, message, text, o)
	posted := Posted{MessageID: message.MessageID}
	if s.visibleLocked(state, message) {
		posted.UpdateID = s.injectLocked(kindOf(state), message)
	}
	state.lastIsBot = false
	return posted
}

func kindOf(state *chatState) string {
	if state.chat.Type == "channel" {
		return "channel_post"
	}
	return "message"
}

func (s *Server) composeLocked(state *chatState, message *Message, text string, o SendOptions) {
	if o.ID != 0 {
		message.MessageID = max(o.ID, 0)
	}
	if o.As != nil || state.chat.Type == "channel" {
		message.From = &Person{ID: 1087968824, IsBot: true, FirstName: "Group", Username: "GroupAnonymousBot"}
		message.SenderChat = o.As
	}
	if state.chat.Type == "channel" {
		message.From, message.SenderChat = nil, &state.chat
	}
	if o.Thread != 0 {
		message.MessageThreadID, message.IsTopicMessage = o.Thread, true
		message.ReplyTo = flat(state.messages[o.Thread])
	}
	if o.ReplyTo != 0 {
		message.ReplyTo = flat(state.messages[o.ReplyTo])
	}
	s.setText(message, text, o)
}

// flat is a message without the one it replies to, as the API shows it.
func flat(message *Message) *Message {
	if message == nil {
		return nil
	}
	shallow := *message
	shallow.ReplyTo = nil
	return &shallow
}

func (s *Server) setText(message *Message, text string, o SendOptions) {
	entities := o.Entities
	if !o.NoEntities {
		entities = append(entities, findEntities(s.patterns, text)...)
	}
	file := File{FileID: "file-1", FileUniqueID: "unique-1", FileSize: 2048}
	switch {
	case o.Photo:
		small := file
		small.FileID, small.FileSize = "file-small", 100
		message.Photo = []File{small, file}
	case o.Voice:
		file.MimeType, file.Duration = "audio/ogg", 3
		message.Voice = &file
	case o.Document != nil:
		message.Document = o.Document
	default:
		message.Text, message.Entities = text, entities
		return
	}
	message.Caption, message.CaptionEntities = text, entities
}

// Edit changes a message's text.
func (u *User) Edit(chat, messageID int64, text string) Posted {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.chats[chat]
	edited := *state.messages[messageID]
	edited.EditDate = s.options.Now().Unix()
	edited.Text, edited.Entities = text, findEntities(s.patterns, text)
	state.messages[messageID] = &edited
	return Posted{MessageID: messageID, UpdateID: s.injectLocked("edited_"+kindOf(state), &edited)}
}

// React puts an emoji on a message; an empty one takes it away.
func (u *User) React(chat, messageID int64, emoji string) Posted {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	reactions := []map[string]string{}
	if emoji != "" {
		reactions = append(reactions, map[string]string{"type": "emoji", "emoji": emoji})
	}
	id := s.injectLocked("message_reaction", map[string]any{
		"chat": s.chats[chat].chat, "message_id": messageID, "user": u.Person, "date": s.options.Now().Unix(),
		"old_reaction": []any{}, "new_reaction": reactions,
	})
	return Posted{MessageID: messageID, UpdateID: id}
}

// Block blocks the bot.
func (u *User) Block() {
	s := u.server
	chat := u.DM()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chat].refusal = forbidden("bot was blocked by the user")
	s.memberLocked(s.chats[chat], u, "member", "kicked")
}

// Unblock lets the bot write again.
func (u *User) Unblock() {
	s := u.server
	chat := u.DM()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chat].refusal = nil
	s.memberLocked(s.chats[chat], u, "kicked", "member")
}
