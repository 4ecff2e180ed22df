package redisstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"parley/sessions"
)

// Publish sends a draft to whoever watches.
func (s *Store) Publish(ctx context.Context, event sessions.LiveEvent) error {
	if err := event.Check(); err != nil {
		return err
	}
	text, err := json.Marshal(event)
	if err != nil {
		return err
	}
	p := s.of(event.Session)
	_, err = s.command(ctx, p, "spublish", p.liveChannel(event.Session), text)
	return err
}

// Watch gives the hints of one session.
func (s *Store) Watch(ctx context.Context, session string) (<-chan sessions.LiveEvent, error) {
	if err := sessions.CheckID(session); err != nil {
		return nil, err
	}
	p := s.of(session)
	f := newFeed(&sessions.LiveEvent{Session: session, Kind: sessions.LiveGap})
	sub := &subscriber{missed: f.missed, message: func(text string) {
		if event, ok := liveEvent(session, text); ok {
			f.add(event)
		}
	}}
	return follow(ctx, s, f, map[string]partition{p.liveChannel(session): p}, sub)
}

// liveEvent reads a hint: "e<seq>" the log has grown, "s" status or state has
// changed, else a draft as JSON.
func liveEvent(session, text string) (sessions.LiveEvent, bool) {
	event := sessions.LiveEvent{Session: session}
	if text == "s" {
		event.Kind = sessions.LiveStatus
		return event, true
	}
	if digits, ok := strings.CutPrefix(text, "e"); ok {
		seq, err := strconv.ParseInt(digits, 10, 64)
		event.Kind, event.Seq = sessions.LiveEntries, seq
		return event, err == nil
	}
	err := json.Unmarshal([]byte(text), &event)
	return event, err == nil && event.Session == session && event.Kind == sessions.LiveDraft
}

// Wakes gives hints that something became due, or is to be stopped.
func (s *Store) Wakes(ctx context.Context) (<-chan sessions.WorkItem, error) {
	f := newFeed[sessions.WorkItem](nil)
	channels := map[string]partition{}
	for _, p := range s.parts {
		channels[p.wakeChannel()] = p
	}
	sub := &subscriber{missed: f.missed, message: func(text string) {
		if item, ok := workItem(text, s.now().UTC()); ok {
			f.add(item)
		}
	}}
	return follow(ctx, s, f, channels, sub)
}

// follow subscribes and feeds a channel until ctx or the store ends.
func follow[T any](ctx context.Context, s *Store, f *feed[T], channels map[string]partition, sub *subscriber) (<-chan T, error) {
	if s.closed.Load() {
		return nil, sessions.ErrClosed
	}
	if err := s.hub.subscribe(ctx, channels, sub); err != nil {
		s.hub.unsubscribe(channels, sub)
		if s.closed.Load() {
			return nil, sessions.ErrClosed
		}
		return nil, fmt.Errorf("subscribe: %w", err)
	}
	out := make(chan T)
	started := s.goroutine(func(background context.Context) {
		defer close(out)
		defer s.hub.unsubscribe(channels, sub)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(background, cancel)()
		f.run(ctx, out)
	})
	if !started {
		s.hub.unsubscribe(channels, sub)
		return nil, sessions.ErrClosed
	}
	return out, nil
}
