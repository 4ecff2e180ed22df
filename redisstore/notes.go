package redisstore

import (
	"context"
	"errors"

	"parley/sessions"
)

// Note writes entries outside of turns.
func (s *Store) Note(ctx context.Context, request sessions.NoteRequest) (sessions.NoteResult, error) {
	if err := request.Check(); err != nil {
		return sessions.NoteResult{}, err
	}
	p := s.of(request.Session)
	args, entries, err := s.noteArgs(ctx, p, request)
	if err != nil {
		return sessions.NoteResult{}, err
	}
	code, r, err := s.answer(ctx, p, s.scripts.note, args...)
	if err != nil {
		return sessions.NoteResult{}, err
	}
	result := sessions.NoteResult{Duplicate: code == "dup", Entries: entries}
	switch code {
	case "dup":
		result.Entries = nil
	case "ok":
		now, list := r.time(), r.list()
		for i := range entries {
			entries[i].Time, entries[i].Seq, entries[i].Parent, entries[i].Waiting = now, list.number(), list.number(), list.flag()
		}
		if err := errors.Join(r.err, list.err); err != nil {
			return sessions.NoteResult{}, err
		}
	default:
		return sessions.NoteResult{}, r.refusal(code, "write a note")
	}
	result.Record, err = r.list().record()
	return result, err
}

func (s *Store) noteArgs(ctx context.Context, p partition, request sessions.NoteRequest) ([]any, []sessions.Entry, error) {
	var leaf, version any = "", ""
	if request.IfLeaf != nil {
		leaf = *request.IfLeaf
	}
	if request.IfVersion != nil {
		version = *request.IfVersion
	}
	list, entries, err := s.entryArgs(ctx, p, request.Entries)
	if err != nil {
		return nil, nil, err
	}
	patch, err := patchArgs(request.Patch)
	if err != nil {
		return nil, nil, err
	}
	args := append([]any{request.Session, request.Key, dedupeFor, bit(request.Steers()), leaf, version}, list...)
	return append(append(args, sessions.MetadataMax), patch...), entries, nil
}

// Clear erases a session's entries. Their list goes at once, in the server's
// background; of their payloads under keys of their own, what is too much for
// one step goes later.
func (s *Store) Clear(ctx context.Context, id string) (sessions.Record, error) {
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	return s.recordOf(ctx, s.of(id), s.scripts.clear, "clear", id, newToken())
}
