package redisstore

import (
	"context"
	"encoding/json"
	"time"

	"parley/sessions"
)

// SetTimer sets or replaces a timer.
func (s *Store) SetTimer(ctx context.Context, timer sessions.Timer, after time.Duration) error {
	if err := sessions.CheckTimer(timer, after); err != nil {
		return err
	}
	p := s.of(timer.Home)
	blob, inline, err := s.payload(ctx, p, timer.Payload)
	if err != nil {
		return err
	}
	at := int64(0)
	if !timer.Due.IsZero() {
		at = timer.Due.UnixMilli()
	}
	if after > 0 {
		after = max(after, time.Millisecond)
	}
	code, r, err := s.answer(ctx, p, s.scripts.timerSet, timerRef(timer.Home, timer.Name), timer.Purpose, blob, inline,
		after.Milliseconds(), at)
	if err != nil || code == "ok" {
		return err
	}
	return r.refusal(code, "set a timer")
}

// Fire takes a due timer.
func (s *Store) Fire(ctx context.Context, home, name string, claimer sessions.Claimer) (sessions.Timer, error) {
	if err := sessions.CheckTimerName(home, name); err != nil {
		return sessions.Timer{}, err
	}
	if err := claimer.Check(); err != nil {
		return sessions.Timer{}, err
	}
	p := s.of(home)
	code, r, err := s.answer(ctx, p, s.scripts.timerFire, timerRef(home, name), claimer.For.Milliseconds())
	if err != nil {
		return sessions.Timer{}, err
	}
	if code != "ok" {
		return sessions.Timer{}, r.refusal(code, "fire")
	}
	t := sessions.Timer{Home: home, Name: name, Purpose: r.text()}
	blob, inline := r.text(), r.text()
	t.Due, t.Fence = r.time(), r.number()
	if r.err != nil {
		return t, r.err
	}
	if inline != "" {
		t.Payload = json.RawMessage(inline)
	}
	if blob != "" {
		t.Payload, err = s.fetch(ctx, p, blob)
	}
	return t, err
}

// FinishTimer removes a timer that was fired.
func (s *Store) FinishTimer(ctx context.Context, timer sessions.Timer) error {
	if err := sessions.CheckTimerName(timer.Home, timer.Name); err != nil {
		return err
	}
	if timer.Fence < 1 {
		return sessions.ErrFenced
	}
	return s.affirm(ctx, s.of(timer.Home), s.scripts.timerEnd, sessions.ErrFenced, timerRef(timer.Home, timer.Name), timer.Fence)
}
