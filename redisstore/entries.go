package redisstore

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"parley/sessions"
)

// places of an entry, as stored.
const (
	inTree  = "t"
	waiting = "w"
	beside  = "b"
	toLeaf  = "l" // only in arguments: beside, and it moves the leaf
)

// stored is an entry as read, whose payload may still be in a blob.
type stored struct {
	sessions.Entry
	blob string
}

// parseEntry reads "parent;time ms;type;place;blob\n" and the payload.
func parseEntry(seq int64, text string) (stored, error) {
	header, payload, ok := strings.Cut(text, "\n")
	f := strings.Split(header, ";")
	if !ok || len(f) != 5 {
		return stored{}, errReply
	}
	parent, err1 := strconv.ParseInt(f[0], 10, 64)
	ms, err2 := strconv.ParseInt(f[1], 10, 64)
	if err1 != nil || err2 != nil {
		return stored{}, errReply
	}
	e := sessions.Entry{Seq: seq, Parent: parent, Waiting: f[3] == waiting, Time: fromMillis(ms), Type: sessions.EntryType(f[2])}
	if f[4] == "" {
		e.Payload = json.RawMessage(payload)
	}
	return stored{Entry: e, blob: f[4]}, nil
}

// entries reads entries that follow each other from seq first on.
func (s *Store) entries(ctx context.Context, p partition, first int64, texts []string) ([]sessions.Entry, error) {
	seqs := make([]int64, len(texts))
	for i := range texts {
		seqs[i] = first + int64(i)
	}
	return s.numbered(ctx, p, seqs, texts)
}

func (s *Store) numbered(ctx context.Context, p partition, seqs []int64, texts []string) ([]sessions.Entry, error) {
	out := make([]sessions.Entry, len(texts))
	for i, text := range texts {
		e, err := parseEntry(seqs[i], text)
		if err != nil {
			return nil, err
		}
		if e.blob != "" {
			if e.Payload, err = s.fetch(ctx, p, e.blob); err != nil {
				return nil, err
			}
		}
		out[i] = e.Entry
	}
	return out, nil
}

// entryArgs are the arguments of new entries (see readentries), and the
// entries as they will be, but for seq, parent and time.
func (s *Store) entryArgs(ctx context.Context, p partition, list []sessions.NewEntry) ([]any, []sessions.Entry, error) {
	args, entries := []any{len(list)}, make([]sessions.Entry, len(list))
	for i, e := range list {
		body, err := e.Body()
		if err != nil {
			return nil, nil, err
		}
		blob, inline, err := s.payload(ctx, p, body)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, string(e.Type), placeOf(e.Type), e.Target, blob, inline)
		entries[i] = sessions.Entry{Type: e.Type, Payload: body}
	}
	return args, entries, nil
}

func placeOf(t sessions.EntryType) string {
	switch {
	case t.InTree():
		return inTree
	case t == sessions.EntryLeaf:
		return toLeaf
	}
	return beside
}

// written fills in what the script gave the entries.
func (r *reply) written(entries []sessions.Entry) []sessions.Entry {
	now, list := r.time(), r.list()
	for i := range entries {
		entries[i].Seq, entries[i].Parent, entries[i].Time = list.number(), list.number(), now
	}
	if list.err != nil {
		r.err = list.err
	}
	if len(entries) == 0 {
		return nil
	}
	return entries
}

// Range reads entries by seq.
func (s *Store) Range(ctx context.Context, session string, from, to int64) ([]sessions.Entry, error) {
	if err := sessions.CheckID(session); err != nil {
		return nil, err
	}
	from = max(from, 1)
	if to < from {
		_, err := s.Get(ctx, session)
		return nil, err
	}
	p := s.of(session)
	code, r, err := s.answer(ctx, p, s.scripts.rangeOf, session, from, to, sessions.EntriesPerCall)
	if err != nil {
		return nil, err
	}
	if code != "ok" {
		return nil, r.refusal(code, "range")
	}
	first, texts := r.number(), r.list().texts()
	if r.err != nil {
		return nil, r.err
	}
	return s.entries(ctx, p, first, texts)
}
