package api

import (
	"encoding/json"
	"time"

	"parley/sessions"
	"parley/sessions/view"
)

// EntryView is an entry as people and programs see it: as [sessions.Entry]
// writes itself, with silence markers stripped from what a model wrote, and
// with HTML where it was asked for and the entry has a text to show.
type EntryView struct {
	Seq       int64              `json:"seq"`
	ID        string             `json:"id"`
	ParentID  *string            `json:"parent_id"`
	Waiting   bool               `json:"waiting,omitempty"`
	Timestamp time.Time          `json:"timestamp"`
	Type      sessions.EntryType `json:"type"`
	Payload   json.RawMessage    `json:"payload,omitempty"`
	HTML      string             `json:"html,omitempty"`
	// Feed is what people watch of it, where that was asked for.
	Feed []view.FeedItem `json:"feed,omitempty"`
}

func (s *Server) views(entries []sessions.Entry, html bool) []EntryView {
	views := make([]EntryView, 0, len(entries))
	for _, entry := range entries {
		view, _ := s.view(entry, html)
		views = append(views, view)
	}
	return views
}

// view shows one entry, and says which event announces it.
func (s *Server) view(entry sessions.Entry, html bool) (EntryView, string) {
	view := EntryView{Seq: entry.Seq, ID: entry.ID(), Waiting: entry.Waiting,
		Timestamp: entry.Time, Type: entry.Type, Payload: entry.Payload}
	if entry.Parent != 0 {
		parent := sessions.EntryID(entry.Parent)
		view.ParentID = &parent
	}
	if entry.Type != sessions.EntryMessage {
		return view, eventFeed
	}
	message, err := entry.Message()
	if err != nil {
		s.config.Logger.Error("an entry of the log cannot be read", "entry", view.ID, "error", err)
		view.Payload = nil
		return view, eventFeed
	}
	if message.Role == sessions.RoleAssistant {
		s.showAnswer(&view, &message, html)
	}
	return view, eventOf(message)
}

// showAnswer replaces a model's raw text by what people may see of it.
func (s *Server) showAnswer(view *EntryView, message *sessions.Message, html bool) {
	shown, silent := s.config.Shown(message.Text)
	if silent || message.Silent {
		shown, message.Silent = "", true
	}
	message.Text = shown
	if payload, err := json.Marshal(*message); err == nil {
		view.Payload = payload
	}
	if html && shown != "" {
		view.HTML = s.render.whole(shown)
	}
}

// The events of a stream. The first five are entries of the log and carry its
// seq as their id.
const (
	eventUser       = "user_message"
	eventMessage    = "message"     // an answer, whole
	eventToolCall   = "tool_call"   // an assistant message that only calls tools
	eventToolResult = "tool_result" //
	eventFeed       = "feed"        // every other entry
	eventDelta      = "text_delta"  // a piece of an answer being written
	eventStatus     = "status"      // what the session is doing
	eventGap        = "gap"         // something may have been missed
	eventMoved      = "moved"       // the place has another current session now
)

func eventOf(message sessions.Message) string {
	switch {
	case message.Role == sessions.RoleTool:
		return eventToolResult
	case message.Role == sessions.RoleUser:
		return eventUser
	case len(message.ToolCalls) > 0 && message.Text == "":
		return eventToolCall
	}
	return eventMessage
}
