package bot

import (
	"context"
	"errors"

	"parley/sessions"
)

// complete lets a duplicate that brings files which the first event did not
// have complete the entry: Slack tells of one message in two events, and only
// one of them names its files. An error leaves the event unacknowledged, so
// that it comes again.
func (b *Bot) complete(ctx context.Context, a arrival, post sessions.PostResult) error {
	if post.Outcome != sessions.PostDuplicate || post.Seq == 0 || len(a.event.Attachments) == 0 {
		return nil
	}
	entries, err := b.store.Range(ctx, post.Session, post.Seq, post.Seq)
	if err != nil || len(entries) == 0 {
		return ignoreGone(err) // or cleared since
	}
	if stored, err := entries[0].Message(); err != nil || len(stored.Attachments) > 0 {
		return nil //nolint:nilerr // what cannot be read is not completed
	}
	edit, err := sessions.NewNote(sessions.EntryEdit, sessions.Edit{TargetID: entries[0].ID(), Attachments: message(a).Attachments})
	if err != nil {
		return err
	}
	_, err = b.store.Note(ctx, sessions.NoteRequest{Key: a.key + ":complete", Session: post.Session, Entries: []sessions.NewEntry{edit}})
	return ignoreGone(err)
}

// ignoreGone is err, unless it says that the session has been deleted or has
// expired since.
func ignoreGone(err error) error {
	if _, expired := errors.AsType[*sessions.StateError](err); expired || errors.Is(err, sessions.ErrNotFound) {
		return nil
	}
	return err
}
