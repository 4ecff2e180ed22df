package faketelegram

// Person is a user or bot on the wire.
type Person struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	Username  string `json:"username,omitempty"`
}

// Chat is a chat on the wire.
type Chat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"` // private, group, supergroup, channel
	Title     string `json:"title,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	Username  string `json:"username,omitempty"`
	IsForum   bool   `json:"is_forum,omitempty"`
}

// Entity is a message entity; offset and length are UTF-16 code units.
type Entity struct {
	Type     string  `json:"type"`
	Offset   int     `json:"offset"`
	Length   int     `json:"length"`
	URL      string  `json:"url,omitempty"`
	User     *Person `json:"user,omitempty"`
	Language string  `json:"language,omitempty"`
}

// File is what all kinds of file have in common.
type File struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileName     string `json:"file_name,omitempty"`
	MimeType     string `json:"mime_type,omitempty"`
	FileSize     int64  `json:"file_size,omitempty"`
	Width        int    `json:"width,omitempty"`
	Height       int    `json:"height,omitempty"`
	Duration     int    `json:"duration,omitempty"`
}

// Message is a message on the wire, as far as this server knows it.
type Message struct {
	MessageID         int64     `json:"message_id"`
	MessageThreadID   int64     `json:"message_thread_id,omitempty"`
	IsTopicMessage    bool      `json:"is_topic_message,omitempty"`
	From              *Person   `json:"from,omitempty"`
	SenderChat        *Chat     `json:"sender_chat,omitempty"`
	Date              int64     `json:"date"`
	EditDate          int64     `json:"edit_date,omitempty"`
	Chat              Chat      `json:"chat"`
	ReplyTo           *Message  `json:"reply_to_message,omitempty"`
	ViaBot            *Person   `json:"via_bot,omitempty"`
	Text              string    `json:"text,omitempty"`
	Entities          []Entity  `json:"entities,omitempty"`
	Caption           string    `json:"caption,omitempty"`
	CaptionEntities   []Entity  `json:"caption_entities,omitempty"`
	Photo             []File    `json:"photo,omitempty"`
	Document          *File     `json:"document,omitempty"`
	Voice             *File     `json:"voice,omitempty"`
	NewChatMembers    []Person  `json:"new_chat_members,omitempty"`
	LeftChatMember    *Person   `json:"left_chat_member,omitempty"`
	ForumTopicCreated *struct{} `json:"forum_topic_created,omitempty"`
	MigrateToChatID   int64     `json:"migrate_to_chat_id,omitempty"`
	MigrateFromChatID int64     `json:"migrate_from_chat_id,omitempty"`
}

// Call is one request the bot made.
type Call struct {
	Seq    int // from 1
	Method string
	Params map[string]string
	// Code is the answer's error code, 200 for success, 0 where a fault kept
	// the server from answering.
	Code        int
	Description string
}

// Sent is one message of the bot that the server took.
type Sent struct {
	Chat, Thread, MessageID, ReplyTo int64
	Text                             string // after entity parsing
	Entities                         []Entity
	Source                           string // as it was sent
}

// apiError is a refusal, as the Bot API words it.
type apiError struct {
	Code        int
	Description string
	Parameters  map[string]int64
}

func (e *apiError) Error() string { return e.Description }

func badRequest(description string) *apiError {
	return &apiError{Code: 400, Description: "Bad Request: " + description}
}

func forbidden(description string) *apiError {
	return &apiError{Code: 403, Description: "Forbidden: " + description}
}

func conflict(description string) *apiError {
	return &apiError{Code: 409, Description: "Conflict: " + description}
}
