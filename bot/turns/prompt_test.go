package turns

import (
	"testing"

	"parley/sessions"
)

// The caption follows its speaker's label, so that whoever reads the line sees
// what was said; what came with it stands behind.
func TestACaptionFollowsItsLabel(t *testing.T) {
	t.Parallel()
	photo := sessions.Message{
		Role: sessions.RoleUser, Sender: &sessions.Sender{ID: "telegram:7", Name: "Alice"}, Group: true, Directed: true,
		Text: "@parley_bot look", Attachments: []sessions.Attachment{{Kind: "photo"}},
	}
	if got, want := labelled(photo, true), "[Alice] @parley_bot look\n(with this came photos, which you cannot see)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	photo.Text = ""
	if got, want := labelled(photo, true), "[Alice] (with this came photos, which you cannot see)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
