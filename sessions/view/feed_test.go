package view_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"parley/sessions"
	"parley/sessions/logtest"
	"parley/sessions/view"
)

// unmarked stands in for the stripping of silence markers.
func unmarked(text string) (string, bool) {
	shown := strings.TrimSpace(strings.ReplaceAll(text, "<NO_REPLY>", ""))
	return shown, shown == "" && text != ""
}

func TestFeed(t *testing.T) {
	t.Parallel()
	type m = sessions.Message
	message := sessions.EntryMessage
	ada := &sessions.Sender{ID: "telegram:1", Name: "Ada"}
	for name, c := range map[string]struct {
		kind    sessions.EntryType
		payload any
		want    []view.FeedItem // without Seq and Time
	}{
		"a person, raw": {message, m{Role: sessions.RoleUser, Text: " [x] <NO_REPLY> ", Sender: ada},
			[]view.FeedItem{{ID: "e7", Type: "user", Label: "Ada", Text: " [x] <NO_REPLY> "}}},
		"a person without a name": {message, m{Role: sessions.RoleUser, Text: "hi", Sender: &sessions.Sender{ID: "slack:U1", Name: " "}},
			[]view.FeedItem{{ID: "e7", Type: "user", Label: "slack:U1", Text: "hi"}}},
		"a picture": {message, m{Role: sessions.RoleUser, Sender: ada, Attachments: []sessions.Attachment{{Kind: "image"}}},
			[]view.FeedItem{{ID: "e7", Type: "user", Label: "Ada", Attachments: []sessions.Attachment{{Kind: "image"}}}}},
		"an answer": {message, m{Role: sessions.RoleAssistant, Text: "yes <NO_REPLY>", Model: "demo"},
			[]view.FeedItem{{ID: "e7", Type: "assistant", Label: "demo", Text: "yes"}}},
		"silence": {message, m{Role: sessions.RoleAssistant, Text: "<NO_REPLY>", Silent: true},
			[]view.FeedItem{{ID: "e7", Type: "assistant", Label: "silent"}}},
		"silence by the record alone": {message, m{Role: sessions.RoleAssistant, Text: "[Bot]", Silent: true},
			[]view.FeedItem{{ID: "e7", Type: "assistant", Label: "silent"}}},
		"stopped": {message, m{Role: sessions.RoleAssistant, Text: "half", Partial: true, Stopped: true},
			[]view.FeedItem{{ID: "e7", Type: "assistant", Label: "stopped", Text: "half"}}},
		"calls with a text": {message, m{Role: sessions.RoleAssistant, Text: "looking", ToolCalls: []sessions.ToolCall{{ID: "c1", Name: "search", Arguments: `{"q":1}`}, {ID: "c2", Name: "open"}}},
			[]view.FeedItem{{ID: "e7", Type: "assistant", Label: "assistant", Text: "looking"}, {ID: "call:c1", Type: "tool", Label: "search", Text: `{"q":1}`}, {ID: "call:c2", Type: "tool", Label: "open"}}},
		"calls alone": {message, m{Role: sessions.RoleAssistant, ToolCalls: []sessions.ToolCall{{ID: "c1", Name: "search"}}},
			[]view.FeedItem{{ID: "call:c1", Type: "tool", Label: "search"}}},
		"a result": {message, m{Role: sessions.RoleTool, CallID: "c1", ToolName: "search", Text: "found"},
			[]view.FeedItem{{ID: "call:c1", Type: "tool-success", Label: "search", Text: "found"}}},
		"a failed call": {message, m{Role: sessions.RoleTool, CallID: "c1", ToolName: "search", Text: "oops", IsError: true},
			[]view.FeedItem{{ID: "call:c1", Type: "tool-error", Label: "search", Text: "oops"}}},
		"a lost result": {message, m{Role: sessions.RoleTool, CallID: "c1", ToolName: "search", Text: `{"error":"` + view.LostResult + `"}`},
			[]view.FeedItem{{ID: "call:c1", Type: "tool-error", Label: "search", Text: `{"error":"` + view.LostResult + `"}`}, {ID: "e7", Type: "repair", Label: "search", Text: view.LostResult}}},
		"unreadable":      {message, []int{1}, []view.FeedItem{{ID: "e7", Type: "error", Label: "unreadable", Text: "this message cannot be read; another version of the gateway may have written it"}}},
		"error":           {sessions.EntryError, sessions.ErrorEntry{Text: "sorry", Cause: "secret cause"}, []view.FeedItem{{ID: "e7", Type: "error", Label: "error", Text: "sorry"}}},
		"turn":            {sessions.EntryTurn, struct{}{}, []view.FeedItem{{ID: "e7", Type: "activation", Label: "turn"}}},
		"handoff":         {sessions.EntryHandoff, map[string]string{"to": "curator", "text": "please"}, []view.FeedItem{{ID: "e7", Type: "handoff", Label: "curator", Text: "please"}}},
		"retry":           {sessions.EntryLeaf, sessions.LeafEntry{TargetID: "e3", Reason: "retry"}, []view.FeedItem{{ID: "e7", Type: "resume", Label: "retry", Text: "goes on at e3"}}},
		"branch":          {sessions.EntryLeaf, sessions.LeafEntry{}, []view.FeedItem{{ID: "e7", Type: "event", Label: "branch", Text: "goes on at the beginning"}}},
		"revived":         {sessions.EntryState, map[string]string{"state": "active"}, []view.FeedItem{{ID: "e7", Type: "resume", Label: "active"}}},
		"compaction":      {sessions.EntryCompaction, sessions.Compaction{Summary: "s"}, []view.FeedItem{{ID: "e7", Type: "event", Label: "compaction", Text: "s"}}},
		"delivered":       {sessions.EntryDelivery, sessions.DeliveryEntry{State: sessions.DeliverySent}, nil},
		"not delivered":   {sessions.EntryDelivery, sessions.DeliveryEntry{State: sessions.DeliveryFailed, Surface: "telegram:1:2", Reason: "blocked"}, []view.FeedItem{{ID: "e7", Type: "error", Label: "not delivered", Text: "telegram:1:2 blocked"}}},
		"custom info":     {sessions.EntryCustomInfo, sessions.CustomInfo{Name: "ci"}, nil},
		"custom message":  {sessions.EntryCustomMessage, sessions.CustomMessage{Name: "ci", Text: "green"}, []view.FeedItem{{ID: "e7", Type: "event", Label: "ci", Text: "green"}}},
		"label":           {sessions.EntryLabel, sessions.Label{TargetID: "e3", Label: "plan"}, []view.FeedItem{{ID: "e7", Type: "event", Label: "label", Text: "e3 plan"}}},
		"a later version": {sessions.EntryCheckpoint, []int{1}, []view.FeedItem{{ID: "e7", Type: "event", Label: "checkpoint"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entry := logtest.Entry(t, 7, c.kind, c.payload)
			for i := range c.want {
				c.want[i].Seq, c.want[i].Time = 7, entry.Time
			}
			if diff := cmp.Diff(c.want, view.Feed(entry, unmarked)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFeedOfALongToolResultIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", view.FeedToolMax)
	for text, want := range map[string]string{long: long, long + "é": strings.Repeat("é", view.FeedToolMax-1) + "…"} {
		items := view.Feed(logtest.Entry(t, 1, sessions.EntryMessage, sessions.Message{Role: sessions.RoleTool, CallID: "c", Text: text}), unmarked)
		if items[0].Text != want {
			t.Errorf("%d runes became %d", utf8.RuneCountInString(text), utf8.RuneCountInString(items[0].Text))
		}
	}
}

func FuzzFeed(f *testing.F) {
	f.Add("message", `{"role":"assistant","text":"x","tool_calls":[{"id":"1"}]}`)
	f.Add("delivery", `{"state":"failed"}`)
	f.Fuzz(func(t *testing.T, kind, payload string) {
		for _, item := range view.Feed(sessions.Entry{Seq: 1, Type: sessions.EntryType(kind), Payload: json.RawMessage(payload)}, unmarked) {
			if item.ID == "" || item.Type == "" || item.Seq != 1 {
				t.Errorf("%+v", item)
			}
		}
	})
}
