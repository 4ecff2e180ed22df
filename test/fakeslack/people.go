package fakeslack

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// User is a person of the workspace.
type User struct {
	server *Server
	ID     string
	Name   string
	bot    string // the bot id of another bot
}

// Bot adds another bot.
func (s *Server) Bot(id, name string) *User {
	u := s.User(id, name)
	u.bot = "B" + id[1:]
	return u
}

// User adds a person.
func (s *Server) User(id, name string) *User {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &User{server: s, ID: id, Name: name}
	s.people[id] = u
	return u
}

// Channel adds a public channel with the bot and these people in it.
func (s *Server) Channel(id, name string, members ...*User) string {
	return s.addChannel(&channel{id: id, name: name, kind: "channel"}, members)
}

// Private adds a private channel.
func (s *Server) Private(id, name string, members ...*User) string {
	return s.addChannel(&channel{id: id, name: name, kind: "group"}, members)
}

// GroupChat adds a direct chat of several people.
func (s *Server) GroupChat(id string, members ...*User) string {
	return s.addChannel(&channel{id: id, name: "mpdm-" + id, kind: "mpim"}, members)
}

func (s *Server) addChannel(c *channel, members []*User) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.members = append(c.members, s.options.BotUser)
	for _, u := range members {
		c.members = append(c.members, u.ID)
	}
	s.channels[c.id] = c
	return c.id
}

// DM is the person's direct chat with the bot.
func (u *User) DM() string {
	id := "D" + strings.TrimPrefix(u.ID, "U")
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels[id] == nil {
		s.channels[id] = &channel{id: id, kind: "im", with: u.ID, members: []string{s.options.BotUser, u.ID}}
	}
	return id
}

// Remove takes the bot out of a channel.
func (s *Server) Remove(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	c.members = slices.DeleteFunc(c.members, func(id string) bool { return id == s.options.BotUser })
}

// Archive closes a channel.
func (s *Server) Archive(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[channel].archived = true
}

// Extra is a change to a message before it is delivered.
type Extra func(event map[string]any)

// InThread makes it a reply in the thread of a message.
func InThread(ts string) Extra { return func(event map[string]any) { event["thread_ts"] = ts } }

// WithFile adds a file.
func WithFile(id, name, mime string, size int) Extra {
	return func(event map[string]any) {
		event["subtype"] = "file_share"
		event["files"] = []any{map[string]any{"id": id, "name": name, "mimetype": mime, "size": size}}
	}
}

// With sets any field.
func With(key string, value any) Extra { return func(event map[string]any) { event[key] = value } }

// Say posts a message, as the person's client would send it: with & < >
// escaped by the caller, and mentions as <@U…>. It returns the message's ts.
// A message that mentions the bot is told twice, unless it is direct.
func (u *User) Say(channel, text string, extras ...Extra) string {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	c.admit(u.ID)
	m := &posted{TS: s.nextTSLocked(), User: u.ID, BotID: u.bot, Text: text}
	event := s.messageEventLocked(c, m)
	for _, extra := range extras {
		extra(event)
	}
	m.Thread, _ = event["thread_ts"].(string)
	if metadata, ok := event["metadata"]; ok {
		m.Metadata, _ = json.Marshal(metadata)
	}
	if parent := c.find(m.Thread); parent != nil && m.Thread != m.TS {
		event["parent_user_id"] = parent.User
	}
	c.log = append(c.log, m)
	s.emitLocked(event)
	if strings.Contains(text, "<@"+s.options.BotUser+">") && c.kind != "im" {
		s.emitLocked(mentionOf(event))
	}
	return m.TS
}

// mentionOf is the second event that tells of the same message. It has no
// channel_type.
func mentionOf(event map[string]any) map[string]any {
	mention := maps.Clone(event)
	mention["type"] = "app_mention"
	delete(mention, "channel_type")
	delete(mention, "subtype")
	delete(mention, "parent_user_id")
	return mention
}

// Webhook posts under a webhook's name.
func (s *Server) Webhook(channel, name, text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	m := &posted{TS: s.nextTSLocked(), BotID: "B0HOOK", Text: text}
	c.log = append(c.log, m)
	event := s.messageEventLocked(c, m)
	event["subtype"], event["username"] = "bot_message", name
	s.emitLocked(event)
	return m.TS
}

// Edit changes one of the person's messages.
func (u *User) Edit(channel, ts, text string) {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	m := c.find(ts)
	before := m.Text
	m.Text, m.Edited = text, true
	s.emitLocked(s.editEventLocked(c, m, before))
}

// Delete removes one of the person's messages.
func (u *User) Delete(channel, ts string) {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	m := c.find(ts)
	m.Deleted = true
	s.emitLocked(s.deletionEventLocked(c, m))
}

// React adds a reaction, or takes it back.
func (u *User) React(channel, ts, name string, added bool) {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := "reaction_removed"
	if added {
		kind = "reaction_added"
	}
	s.emitLocked(map[string]any{
		"type": kind, "user": u.ID, "reaction": name, "event_ts": s.nextTSLocked(),
		"item": map[string]any{"type": "message", "channel": channel, "ts": ts},
	})
}

// Command types a slash command, such as "/new".
func (u *User) Command(channel, name, args string) {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sendLocked("slash_commands", map[string]any{
		"command": name, "text": args, "team_id": s.options.Team, "channel_id": channel, "user_id": u.ID,
		"user_name": strings.ToLower(u.Name), "trigger_id": s.nextIDLocked("1234.5678."), "api_app_id": AppID,
		"response_url": "https://hooks.slack.invalid/commands/1", "is_enterprise_install": "false",
	})
}

// Press presses a button of a message.
func (u *User) Press(channel, ts, action, value string) {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sendLocked("interactive", map[string]any{
		"type": "block_actions", "team": map[string]any{"id": s.options.Team}, "user": map[string]any{"id": u.ID, "name": u.Name},
		"channel":    map[string]any{"id": channel},
		"container":  map[string]any{"type": "message", "message_ts": ts, "channel_id": channel},
		"trigger_id": s.nextIDLocked("9.9."), "api_app_id": AppID,
		"actions": []any{map[string]any{"type": "button", "action_id": action, "value": value, "action_ts": s.nextTSLocked()}},
	})
}

// Join makes the person a member of a channel.
func (u *User) Join(channel string) {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[channel].admit(u.ID)
	s.emitLocked(map[string]any{"type": "member_joined_channel", "user": u.ID, "channel": channel, "event_ts": s.nextTSLocked()})
}

// Leave takes the person out of a channel, as removing them does.
func (u *User) Leave(channel string) {
	u.Slip(channel)
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emitLocked(map[string]any{"type": "member_left_channel", "user": u.ID, "channel": channel, "channel_type": "C", "team": s.options.Team, "event_ts": s.nextTSLocked()})
}

// Slip takes the person out of a channel, and tells nobody.
func (u *User) Slip(channel string) {
	s := u.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[channel]
	c.members = slices.DeleteFunc(c.members, func(id string) bool { return id == u.ID })
}

func (c *channel) admit(user string) {
	if !slices.Contains(c.members, user) {
		c.members = append(c.members, user)
	}
}

// usersConversations lists the channels that somebody is in: all public ones,
// of the others those that the bot is in.
func (s *Server) usersConversations(params url.Values) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	user := params.Get("user")
	if s.people[user] == nil {
		return failure("user_not_found")
	}
	listed := []answer{}
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		c := s.channels[id]
		if c.kind != "im" && slices.Contains(c.members, user) && (c.kind == "channel" || slices.Contains(c.members, s.options.BotUser)) {
			listed = append(listed, answer{"id": c.id, "name": c.name})
		}
	}
	start, _ := strconv.Atoi(params.Get("cursor"))
	limit, err := strconv.Atoi(params.Get("limit"))
	if err != nil || limit < 1 || limit > 999 {
		return failure("invalid_limit")
	}
	end, next := min(start+limit, len(listed)), ""
	if end < len(listed) {
		next = strconv.Itoa(end)
	}
	return answer{"ok": true, "channels": listed[min(start, end):end], "response_metadata": answer{"next_cursor": next}}
}
