package fakediscord

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The shapes of what Discord sends.

func userJSON(u User) map[string]any {
	out := map[string]any{"id": u.ID, "username": u.Name, "discriminator": "0", "avatar": nil, "global_name": nil, "public_flags": 0}
	if u.Show != "" {
		out["global_name"] = u.Show
	}
	if u.Bot {
		out["bot"] = true
	}
	return out
}

func channelJSON(c *channel) map[string]any {
	out := map[string]any{"id": c.ID, "type": c.Type, "last_message_id": nil}
	if c.Type == typeDM {
		out["recipients"] = []any{userJSON(c.recipient)}
		return out
	}
	out["guild_id"], out["name"], out["permission_overwrites"] = c.Guild, c.Name, []any{}
	if c.Type == typeThread {
		out["parent_id"], out["owner_id"] = c.Parent, c.Owner
		out["thread_metadata"] = map[string]any{"archived": false, "auto_archive_duration": 1440, "archive_timestamp": stamp(time.Now()), "locked": false}
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000-07:00") }

// guildJSON is a GUILD_CREATE event.
func (s *Server) guildJSON(g *guild) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	channels, threads := []any{}, []any{}
	for _, id := range s.world.order {
		c := s.world.channels[id]
		switch {
		case c.Guild != g.ID:
		case c.Type == typeThread:
			threads = append(threads, channelJSON(c))
		default:
			shape := channelJSON(c)
			delete(shape, "guild_id") // as Discord does within a guild
			channels = append(channels, shape)
		}
	}
	return map[string]any{
		"id": g.ID, "name": g.Name, "member_count": g.members, "large": false, "unavailable": false,
		"channels": channels, "threads": threads, "members": []any{}, "roles": []any{}, "emojis": []any{}, "presences": []any{},
	}
}

// timeOf is the time within an id.
func timeOf(id string) time.Time {
	n, _ := strconv.ParseInt(id, 10, 64)
	return time.UnixMilli(n>>22 + epoch)
}

var mention = regexp.MustCompile(`<@!?(\d+)>`)

// messageJSON is a message as the gateway and REST show it; content tells
// whether this reader may see the text.
func (s *Server) messageJSON(m *Message, content bool) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.messageShape(m, content, true)
}

func (s *Server) messageShape(m *Message, content, deep bool) map[string]any {
	c := s.world.channels[m.Channel]
	out := map[string]any{
		"id": m.ID, "channel_id": m.Channel, "author": userJSON(m.Author), "content": m.Text, "timestamp": stamp(timeOf(m.ID)),
		"edited_timestamp": nil, "tts": false, "mention_everyone": strings.Contains(m.Text, "@everyone"), "mentions": s.mentionsOf(m, c),
		"mention_roles": []any{}, "attachments": append([]Attachment{}, m.options.Attachments...), "embeds": []any{},
		"components": append([]map[string]any{}, m.options.Components...), "pinned": false, "type": m.options.Type, "flags": m.Flags,
	}
	if !content {
		out["content"], out["attachments"], out["components"] = "", []any{}, []any{}
	}
	if m.Edited != nil {
		out["edited_timestamp"] = stamp(*m.Edited)
	}
	if c.Guild != "" && deep {
		out["guild_id"], out["member"] = c.Guild, map[string]any{"nick": nilIfEmpty(m.options.Nick), "roles": []any{}}
	}
	if m.options.Webhook {
		out["webhook_id"] = m.Author.ID
		delete(out, "member")
	}
	if m.Nonce != "" {
		out["nonce"] = m.Nonce
	}
	if m.ReplyTo != "" && deep {
		out["type"] = 19
		out["message_reference"] = map[string]any{"type": 0, "message_id": m.ReplyTo, "channel_id": m.Channel}
		out["referenced_message"] = nil
		if original := c.find(m.ReplyTo); original != nil {
			out["referenced_message"] = s.messageShape(original, content, false)
		}
	}
	return out
}

func nilIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// mentionsOf are the users a message mentions: those named in the text that
// the world knows, and the author of the message it replies to.
func (s *Server) mentionsOf(m *Message, c *channel) []any {
	out, seen := []any{}, map[string]bool{}
	add := func(u User) {
		if u.ID != "" && !seen[u.ID] {
			seen[u.ID] = true
			out = append(out, userJSON(u))
		}
	}
	for _, found := range mention.FindAllStringSubmatch(m.Text, -1) {
		add(s.userNamed(found[1]))
	}
	if original := c.find(m.ReplyTo); original != nil && !m.options.NoPing {
		add(original.Author)
	}
	return out
}

// userNamed finds a user by id: the bot, or whoever has written somewhere.
func (s *Server) userNamed(id string) User {
	if id == s.bot.ID {
		return s.bot
	}
	for _, c := range s.world.channels {
		if c.recipient.ID == id {
			return c.recipient
		}
		for _, m := range c.messages {
			if m.Author.ID == id {
				return m.Author
			}
		}
	}
	return User{}
}

// mentionsBot reports whether a message mentions the bot.
func (s *Server) mentionsBot(m *Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, user := range s.mentionsOf(m, s.world.channels[m.Channel]) {
		if user.(map[string]any)["id"] == s.bot.ID {
			return true
		}
	}
	return false
}
