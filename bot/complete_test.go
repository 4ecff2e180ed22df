package bot

import (
	"strings"
	"testing"

	"parley/adapters"
	"parley/sessions"
)

// Slack tells of one message twice, and only one of the events names its
// files. They are one entry, which the model reads with its files.
func TestASecondEventWithFilesCompletesTheEntry(t *testing.T) {
	t.Parallel()
	for name, withFiles := range map[string][]bool{
		"files last": {false, true, true}, "files first": {true, false}, "files twice": {true, true}, "no files": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.saysInGroup("owner", "@bot hello")
			s.hears("hello")
			event, want := s.event("member", "look at this", true), false
			for _, files := range withFiles {
				event.Attachments = nil
				if files {
					event.Attachments, want = []adapters.Attachment{{Kind: "photo", Ref: "F1"}}, true
				}
				s.takeIn(event)
			}
			s.saysInGroup("owner", "@bot what was it?")
			s.hears("what was it?")
			asked := s.brain.asked()
			last := asked[len(asked)-1]
			read := ""
			for _, m := range last.Messages {
				read += m.Text + "\n"
			}
			if strings.Count(read, "look at this") != 1 || strings.Contains(read, "with this came photos") != want {
				t.Errorf("the model read %q", read)
			}
			edits := 0
			for _, entry := range s.entries(s.idle("group")) {
				if entry.Type == sessions.EntryEdit {
					edits++
				}
			}
			if wantEdits := map[bool]int{true: 1}[name == "files last"]; edits != wantEdits {
				t.Errorf("%d edits, want %d", edits, wantEdits)
			}
		})
	}
}
