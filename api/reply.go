package api

import (
	"context"
	"errors"
	"time"

	"parley/sessions"
)

// replyWithin is how many entries after a message its reply is looked for.
const replyWithin = 500

// await waits until the reply to a message is in the log: what stands below
// the message in the tree, up to the turn's end. done is false when the time
// is up first, the server stops, or the reply cannot be told.
func (s *Server) await(ctx context.Context, said Said, wait time.Duration) (reply []sessions.Entry, done bool, err error) {
	if said.Seq == 0 || said.Session == "" {
		return nil, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	hints, err := s.config.Store.Watch(ctx, said.Session)
	if err != nil {
		return nil, false, unlessOver(ctx, err)
	}
	for {
		entries, err := s.config.Store.Range(ctx, said.Session, said.Seq, said.Seq+replyWithin)
		if err != nil {
			return nil, false, unlessOver(ctx, err)
		}
		if reply, done := replyTo(entries); done {
			return reply, true, nil
		}
		if !s.nextChange(hints) {
			return nil, false, nil
		}
	}
}

// nextChange waits for a hint that the log may have grown, or for as long as a
// lost hint may cost; false: the stream of hints ended, or the server stops.
func (s *Server) nextChange(hints <-chan sessions.LiveEvent) bool {
	lost := time.NewTimer(s.config.Heartbeat)
	defer lost.Stop()
	for {
		select {
		case <-lost.C:
			return true
		case hint, open := <-hints:
			if !open || hint.Kind != sessions.LiveDraft {
				return open
			}
		case <-s.ended:
			return false
		}
	}
}

func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// replyTo finds the reply to entries[0], a message, among the entries after
// it: what the agent wrote on branches below it. done: the last of it ends a
// turn. An error that follows the message, once a turn has taken it, ends it
// as well.
func replyTo(entries []sessions.Entry) (reply []sessions.Entry, done bool) {
	if len(entries) == 0 {
		return nil, false
	}
	below := map[int64]bool{entries[0].Seq: true}
	taken := !entries[0].Waiting
	for _, entry := range entries[1:] {
		if entry.Type == sessions.EntryError && taken {
			return append(reply, entry), true
		}
		if !entry.Type.InTree() || !below[entry.Parent] {
			continue
		}
		below[entry.Seq] = true
		message, err := entry.Message()
		if err != nil || message.Role == sessions.RoleUser {
			continue
		}
		reply = append(reply, entry)
		if message.EndsTurn() {
			return reply, true
		}
	}
	return reply, false
}
