package fakediscord

import (
	"net/http"
	"slices"
	"time"
)

// User is a person, a bot, or a webhook's author.
type User struct {
	ID   string
	Name string // user name
	Show string // global name; empty: none
	Bot  bool
}

// Message is one message of a channel.
type Message struct {
	ID          string
	Channel     string
	Author      User
	Text        string
	ReplyTo     string
	Nonce       string
	Edited      *time.Time
	Flags       int
	Interaction string // the interaction it answers
	options     Options
}

// Options are the rarer properties of a message that a person posts.
type Options struct {
	ReplyTo     string // a message of the same channel
	NoPing      bool   // a reply that does not mention its author
	Nick        string // of the author in this server
	Webhook     bool   // posted by a webhook
	Type        int    // of the message; 0, or 19 with ReplyTo, by itself
	Attachments []Attachment
	Components  []map[string]any
}

// Attachment is a file of a message.
type Attachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type,omitempty"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
}

// Types of channel.
const (
	typeText   = 0
	typeDM     = 1
	typeThread = 11
)

type channel struct {
	ID, Guild, Name, Parent string
	Type                    int
	Owner                   string // of a thread
	recipient               User   // of a DM
	messages                []*Message
	refuse                  *apiError // of every message
}

type guild struct {
	ID, Name string
	members  int
	people   map[string]bool // who has written there, and has not left
}

// world is all there is; guarded by Server.mu.
type world struct {
	guilds   []*guild
	channels map[string]*channel
	order    []string // of channels
	nonces   map[string]*Message
}

func newWorld() world {
	return world{channels: map[string]*channel{}, nonces: map[string]*Message{}}
}

func (w *world) add(c *channel) {
	w.channels[c.ID] = c
	w.order = append(w.order, c.ID)
}

func (c *channel) find(id string) *Message {
	i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

// NewUser makes a person.
func (s *Server) NewUser(name string) User { return User{ID: s.id(), Name: name} }

// NewGuild makes a server with the bot on it, and returns its id.
func (s *Server) NewGuild(name string) string {
	g := &guild{ID: s.id(), Name: name, members: 2, people: map[string]bool{}}
	s.mu.Lock()
	s.world.guilds = append(s.world.guilds, g)
	s.mu.Unlock()
	s.Emit("GUILD_CREATE", s.guildJSON(g))
	return g.ID
}

// NewChannel makes a text channel and returns its id.
func (s *Server) NewChannel(guild, name string) string {
	return s.create("CHANNEL_CREATE", &channel{ID: s.id(), Guild: guild, Name: name, Type: typeText})
}

// NewThread makes a thread in a channel and returns its id.
func (s *Server) NewThread(parent, name string) string {
	s.mu.Lock()
	in := s.world.channels[parent].Guild
	s.mu.Unlock()
	return s.create("THREAD_CREATE", &channel{ID: s.id(), Guild: in, Name: name, Parent: parent, Type: typeThread})
}

// DM is the id of the direct channel between a person and the bot.
func (s *Server) DM(user User) string {
	s.mu.Lock()
	for _, c := range s.world.channels {
		if c.Type == typeDM && c.recipient.ID == user.ID {
			s.mu.Unlock()
			return c.ID
		}
	}
	s.mu.Unlock()
	return s.create("", &channel{ID: s.id(), Type: typeDM, recipient: user})
}

func (s *Server) create(event string, c *channel) string {
	s.mu.Lock()
	s.world.add(c)
	s.mu.Unlock()
	if event != "" {
		s.Emit(event, channelJSON(c))
	}
	return c.ID
}

// Messages are the bot's messages in a channel, oldest first.
func (s *Server) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Message
	if c := s.world.channels[channel]; c != nil {
		for _, m := range c.messages {
			if m.Author.ID == s.bot.ID {
				out = append(out, *m)
			}
		}
	}
	return out
}

// Post writes a message as a person and returns its id. Mentions are taken
// from the text, as <@id>.
func (s *Server) Post(channelID string, author User, text string, options ...Options) string {
	m := &Message{Channel: channelID, Author: author, Text: text}
	if len(options) > 0 {
		m.options = options[0]
		m.ReplyTo = m.options.ReplyTo
	}
	s.mu.Lock()
	m.ID = s.idLocked(time.Now())
	c := s.world.channels[channelID]
	c.messages = append(c.messages, m)
	if g := s.world.guild(c.Guild); g != nil {
		g.people[author.ID] = true
	}
	s.mu.Unlock()
	s.emitMessage("MESSAGE_CREATE", m)
	return m.ID
}

// Redeliver sends a message that was posted once more, as an event of its own.
func (s *Server) Redeliver(channelID, id string) {
	s.mu.Lock()
	m := s.world.channels[channelID].find(id)
	s.mu.Unlock()
	s.emitMessage("MESSAGE_CREATE", m)
}

// Edit changes a message.
func (s *Server) Edit(channelID, id, text string) {
	s.mu.Lock()
	m := s.world.channels[channelID].find(id)
	now := time.Now().UTC()
	m.Text, m.Edited = text, &now
	s.mu.Unlock()
	s.emitMessage("MESSAGE_UPDATE", m)
}

// Delete removes a message.
func (s *Server) Delete(channelID, id string) {
	s.mu.Lock()
	c := s.world.channels[channelID]
	c.messages = slices.DeleteFunc(c.messages, func(m *Message) bool { return m.ID == id })
	data := map[string]any{"id": id, "channel_id": channelID}
	if c.Guild != "" {
		data["guild_id"] = c.Guild
	}
	s.mu.Unlock()
	s.Emit("MESSAGE_DELETE", data)
}

func (w *world) guild(id string) *guild {
	for _, g := range w.guilds {
		if g.ID == id {
			return g
		}
	}
	return nil
}

// Leave takes somebody off a server. A bot that did not ask for the events of
// members is not told.
func (s *Server) Leave(guild string, user User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.world.guild(guild).people, user.ID)
}

func (s *Server) getMember(r *http.Request, _ []byte) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.world.guild(r.PathValue("guild"))
	if g == nil {
		return nil, unknown(10004, "Guild")
	}
	user := r.PathValue("user")
	if !g.people[user] {
		return nil, unknown(10007, "Member")
	}
	return map[string]any{"user": map[string]any{"id": user}, "roles": []any{}}, nil
}
