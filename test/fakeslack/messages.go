package fakeslack

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// channel is one conversation.
type channel struct {
	id, name string
	kind     string   // channel, group, im or mpim, as events name it
	with     string   // im: the person
	members  []string // user ids, the bot's too
	archived bool
	log      []*posted
}

// posted is one message.
type posted struct {
	TS, Thread string
	User       string // empty for a post under a webhook's name
	BotID      string
	Text       string
	Blocks     json.RawMessage
	Metadata   json.RawMessage
	Params     url.Values // of the bot's own
	Deleted    bool
	Edited     bool
	sent       *Sent // what was made of it, for the tests; nil after a change
}

// Sent is a message the bot posted.
type Sent struct {
	Channel, TS, Thread string
	Text                string // of the text field
	Markdown            string // of the markdown blocks, joined
	DeliveryID          string // of the metadata
	Notifies            []string
	Params              url.Values
	Deleted, Edited     bool
}

// Shown is what people see: the blocks, or the text where there are none.
func (s Sent) Shown() string {
	if s.Markdown != "" {
		return s.Markdown
	}
	return unescape.Replace(s.Text)
}

var (
	unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
	notifies = regexp.MustCompile(`<(?:!(?:channel|here|everyone|subteam)|[@#][A-Z0-9])[^>]*>`)
)

// sent are the bot's messages. Tests ask again and again: what was made of one
// is kept until it changes.
func (c *channel) sent() []Sent {
	var list []Sent
	for _, m := range c.log {
		if m.Params == nil {
			continue
		}
		if m.sent == nil {
			sent := sentOf(c.id, m)
			m.sent = &sent
		}
		list = append(list, *m.sent)
	}
	return list
}

func sentOf(channel string, m *posted) Sent {
	var metadata struct {
		Payload struct {
			DeliveryID string `json:"delivery_id"`
		} `json:"event_payload"`
	}
	_ = json.Unmarshal(m.Metadata, &metadata)
	sent := Sent{
		Channel: channel, TS: m.TS, Thread: m.Thread, Text: m.Text, Markdown: markdownOf(m.Blocks),
		DeliveryID: metadata.Payload.DeliveryID, Params: m.Params, Deleted: m.Deleted, Edited: m.Edited,
	}
	sent.Notifies = notifies.FindAllString(sent.Text+"\n"+sent.Markdown, -1)
	return sent
}

func markdownOf(blocks json.RawMessage) string {
	var list []struct {
		Type string `json:"type"`
		Text any    `json:"text"`
	}
	if json.Unmarshal(blocks, &list) != nil {
		return ""
	}
	var texts []string
	for _, block := range list {
		if text, ok := block.Text.(string); ok && block.Type == "markdown" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }

// Limits of a message, in UTF-16 code units.
const (
	markdownMax = 12_000
	textMax     = 40_000
	blocksMax   = 50
)

func (c *channel) find(ts string) *posted {
	for _, m := range c.log {
		if m.TS == ts && !m.Deleted {
			return m
		}
	}
	return nil
}

// reachable says why the bot cannot post in a channel; empty if it can.
func (s *Server) reachableLocked(id string) (*channel, string) {
	c := s.channels[id]
	switch {
	case c == nil:
		return nil, "channel_not_found"
	case c.archived:
		return c, "is_archived"
	case !slices.Contains(c.members, s.options.BotUser):
		if c.kind == "channel" {
			return c, "not_in_channel"
		}
		return c, "channel_not_found"
	}
	return c, ""
}

func (s *Server) postMessage(params url.Values) answer {
	s.mu.Lock()
	c, code := s.reachableLocked(params.Get("channel"))
	if code == "" {
		code = s.contentLocked(params)
	}
	thread := params.Get("thread_ts")
	if code == "" && thread != "" && c.find(thread) == nil {
		code = "thread_not_found"
	}
	if code != "" {
		s.mu.Unlock()
		return failure(code)
	}
	m := &posted{
		TS: s.nextTSLocked(), Thread: thread, User: s.options.BotUser, BotID: s.options.BotID, Text: cut(params.Get("text")),
		Blocks: raw(params.Get("blocks")), Metadata: raw(params.Get("metadata")), Params: params,
	}
	c.log = append(c.log, m)
	s.emitLocked(s.messageEventLocked(c, m))
	s.notifyLocked()
	sent, shown := sentOf(c.id, m), s.shown(m)
	s.mu.Unlock()
	if s.options.OnSend != nil {
		s.options.OnSend(sent)
	}
	return answer{"ok": true, "channel": c.id, "ts": m.TS, "message": shown}
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func cut(text string) string {
	encoded := utf16.Encode([]rune(text))
	return string(utf16.Decode(encoded[:min(len(encoded), textMax)]))
}

// contentLocked refuses what Slack refuses, and notes what no careful program
// sends.
func (s *Server) contentLocked(params url.Values) string {
	text, blocks := params.Get("text"), params.Get("blocks")
	if strings.TrimSpace(text) == "" && blocks == "" {
		s.violateLocked("a message without text")
		return "no_text"
	}
	if units(text) > textMax {
		s.violateLocked("a text of %d units, which is cut off", units(text))
	}
	if metadata := params.Get("metadata"); metadata != "" && !isMetadata(metadata) {
		s.violateLocked("metadata that is none: %.80s", metadata)
		return "invalid_metadata_format"
	}
	if params.Get("link_names") == "true" || params.Get("parse") == "full" || params.Get("unfurl_links") == "true" {
		s.violateLocked("a message that lets Slack look for names or links in it")
	}
	if blocks == "" {
		return ""
	}
	return s.blocksLocked(blocks)
}

func isMetadata(text string) bool {
	var metadata struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	}
	err := json.Unmarshal([]byte(text), &metadata)
	return err == nil && metadata.Payload != nil && regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`).MatchString(metadata.Type)
}

func (s *Server) blocksLocked(blocks string) string {
	var list []struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(blocks), &list); err != nil || len(list) == 0 || len(list) > blocksMax {
		s.violateLocked("blocks that are none: %.80s", blocks)
		return "invalid_blocks_format"
	}
	for _, block := range list {
		if !slices.Contains([]string{"markdown", "section", "divider", "context", "actions", "header", "rich_text", "image"}, block.Type) {
			s.violateLocked("a block of type %q", block.Type)
			return "invalid_blocks"
		}
	}
	if n := units(markdownOf(json.RawMessage(blocks))); n > markdownMax {
		s.violateLocked("markdown blocks of %d units", n)
		return "msg_too_long"
	}
	return ""
}

func (s *Server) update(params url.Values) answer { return s.change(params, false) }
func (s *Server) delete(params url.Values) answer { return s.change(params, true) }

// change edits or deletes one of the bot's own messages.
func (s *Server) change(params url.Values, deletion bool) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, code := s.reachableLocked(params.Get("channel"))
	if code != "" {
		return failure(code)
	}
	m := c.find(params.Get("ts"))
	switch {
	case m == nil:
		return failure("message_not_found")
	case m.User != s.options.BotUser && deletion:
		return failure("cant_delete_message")
	case m.User != s.options.BotUser:
		return failure("cant_update_message")
	}
	if deletion {
		m.Deleted, m.sent = true, nil
		s.emitLocked(s.deletionEventLocked(c, m))
		s.notifyLocked()
		return answer{"ok": true, "channel": c.id, "ts": m.TS}
	}
	if code := s.contentLocked(params); code != "" {
		return failure(code)
	}
	before := m.Text
	m.Text, m.Blocks, m.Edited, m.sent = cut(params.Get("text")), raw(params.Get("blocks")), true, nil
	s.emitLocked(s.editEventLocked(c, m, before))
	s.notifyLocked()
	return answer{"ok": true, "channel": c.id, "ts": m.TS, "text": m.Text}
}

func (s *Server) history(params url.Values) answer { return s.page(params, "") }

func (s *Server) replies(params url.Values) answer { return s.page(params, params.Get("ts")) }

// page is one page of a channel, newest first, or of a thread, oldest first.
func (s *Server) page(params url.Values, thread string) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[params.Get("channel")]
	if c == nil || !slices.Contains(c.members, s.options.BotUser) {
		return failure("channel_not_found")
	}
	var found []*posted
	for _, m := range c.log {
		inThread := m.Thread == thread || m.TS == thread
		if thread == "" {
			inThread = m.Thread == ""
		}
		if inThread && !m.Deleted && (m.TS > params.Get("oldest") || m.TS == thread) {
			found = append(found, m)
		}
	}
	if thread != "" && len(found) == 0 {
		return failure("thread_not_found")
	}
	if thread == "" {
		slices.Reverse(found)
	}
	from, _ := strconv.Atoi(params.Get("cursor"))
	limit, _ := strconv.Atoi(params.Get("limit"))
	if limit <= 0 || limit > 999 {
		limit = 100
	}
	from = min(max(from, 0), len(found))
	until := min(from+limit, len(found))
	messages := []answer{}
	for _, m := range found[from:until] {
		entry := s.shown(m)
		if !slices.Contains([]string{"true", "1"}, params.Get("include_all_metadata")) {
			delete(entry, "metadata")
		}
		messages = append(messages, entry)
	}
	result := answer{"ok": true, "messages": messages, "has_more": until < len(found)}
	if until < len(found) {
		result["response_metadata"] = answer{"next_cursor": strconv.Itoa(until)}
	}
	return result
}

// shown is a message as answers and events tell it.
func (s *Server) shown(m *posted) answer {
	entry := answer{"type": "message", "ts": m.TS, "text": m.Text, "team": s.options.Team}
	if m.User != "" {
		entry["user"] = m.User
	}
	if m.BotID != "" {
		entry["bot_id"] = m.BotID
	}
	if m.Thread != "" {
		entry["thread_ts"] = m.Thread
	}
	if m.Metadata != nil {
		entry["metadata"] = m.Metadata
	}
	if m.Blocks != nil {
		entry["blocks"] = m.Blocks
	}
	return entry
}

func (s *Server) usersInfo(params url.Values) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	person := s.people[params.Get("user")]
	if person == nil {
		return failure("user_not_found")
	}
	return answer{"ok": true, "user": answer{
		"id": person.ID, "name": strings.ToLower(person.Name), "real_name": person.Name,
		"profile": answer{"display_name": person.Name, "real_name": person.Name}, "is_bot": person.ID == s.options.BotUser,
	}}
}

func (s *Server) conversationsInfo(params url.Values) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channels[params.Get("channel")]
	if c == nil || c.kind != "channel" && !slices.Contains(c.members, s.options.BotUser) {
		return failure("channel_not_found")
	}
	info := answer{"id": c.id, "is_im": c.kind == "im", "is_mpim": c.kind == "mpim", "is_channel": c.kind == "channel", "is_archived": c.archived}
	if c.kind == "im" {
		info["user"] = c.with
	} else {
		info["name"] = c.name
	}
	return answer{"ok": true, "channel": info}
}
