package fakeslack

import (
	"encoding/json"
	"slices"
	"time"
)

// envelope is something that waits for the app's acknowledgement.
type envelope struct {
	id      string
	kind    string
	payload any
	attempt int
	sent    time.Time   // the last time; zero: not yet
	on      *connection // the socket of the last time
	channel string      // what it concerns, where it is an event
	ts      string
}

func (s *Server) messageEventLocked(c *channel, m *posted) map[string]any {
	event := map[string]any(s.shown(m))
	event["channel"], event["channel_type"], event["event_ts"] = c.id, c.kind, m.TS
	return event
}

func (s *Server) editEventLocked(c *channel, m *posted, before string) map[string]any {
	now, was, ts := map[string]any(s.shown(m)), map[string]any(s.shown(m)), s.nextTSLocked()
	was["text"] = before
	now["edited"] = map[string]any{"user": m.User, "ts": ts}
	return map[string]any{
		"type": "message", "subtype": "message_changed", "hidden": true, "channel": c.id, "channel_type": c.kind,
		"message": now, "previous_message": was, "ts": ts, "event_ts": ts,
	}
}

func (s *Server) deletionEventLocked(c *channel, m *posted) map[string]any {
	ts := s.nextTSLocked()
	return map[string]any{
		"type": "message", "subtype": "message_deleted", "hidden": true, "channel": c.id, "channel_type": c.kind,
		"deleted_ts": m.TS, "previous_message": s.shown(m), "ts": ts, "event_ts": ts,
	}
}

// emitLocked delivers an event, if the bot may know of it.
func (s *Server) emitLocked(event map[string]any) {
	if id, ok := event["channel"].(string); ok && s.channels[id] != nil && !slices.Contains(s.channels[id].members, s.options.BotUser) {
		return
	}
	s.sendLocked("events_api", map[string]any{
		"token": "legacy-verification-token", "team_id": s.options.Team, "api_app_id": AppID, "type": "event_callback",
		"event_id": s.nextIDLocked("Ev"), "event_time": s.options.Now().Unix(), "event": event,
		"authorizations": []any{map[string]any{
			"team_id": s.options.Team, "user_id": s.options.BotUser, "is_bot": true, "is_enterprise_install": false,
		}},
		"is_ext_shared_channel": false, "event_context": "4-fake",
	})
}

// Emit delivers any event, with the fields around it that Slack adds.
func (s *Server) Emit(event map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emitLocked(event)
}

// Deliver delivers an envelope of any kind with any payload.
func (s *Server) Deliver(kind string, payload any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sendLocked(kind, payload)
}

// Frame sends bytes as they stand to one socket, and expects no
// acknowledgement.
func (s *Server) Frame(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.sockets.pickLocked(); c != nil {
		c.queueLocked(data)
	}
}

// sendLocked delivers by request where there is an address, else by socket.
func (s *Server) sendLocked(kind string, payload any) {
	e := &envelope{id: s.nextIDLocked("envelope-"), kind: kind, payload: payload}
	e.channel, e.ts = subject(payload)
	s.past = append(s.past, e)
	s.past = s.past[max(0, len(s.past)-pastMax):]
	s.enqueueLocked(e)
}

// pastMax is how many envelopes can be delivered again.
const pastMax = 1000

// subject is the channel and message an event concerns.
func subject(payload any) (channel, ts string) {
	outer, _ := payload.(map[string]any)
	event, _ := outer["event"].(map[string]any)
	channel, _ = event["channel"].(string)
	ts, _ = event["ts"].(string)
	return channel, ts
}

// Again delivers the events of a message once more, in envelopes of their own
// and with the event ids they had, as when an acknowledgement was lost.
func (s *Server) Again(channel, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Clone(s.past) {
		if e.channel == channel && e.ts == ts {
			s.enqueueLocked(&envelope{id: s.nextIDLocked("envelope-"), kind: e.kind, payload: e.payload, attempt: 1, channel: channel, ts: ts})
		}
	}
}

// Acknowledged reports whether nothing of a message waits for the app.
func (s *Server) Acknowledged(ts string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(s.pending, func(e *envelope) bool { return e.ts == ts })
}

func (s *Server) enqueueLocked(e *envelope) {
	s.pending = append(s.pending, e)
	if s.requestURL != "" {
		address := s.requestURL
		s.work.Go(func() { s.request(address, e) })
		return
	}
	s.deliverLocked(e)
}

// deliverLocked sends an envelope to one of the sockets; where there is none,
// it waits for one. With Sticky it also waits until what came before it in its
// channel is acknowledged.
func (s *Server) deliverLocked(e *envelope) {
	c := s.sockets.pickForLocked(e.channel)
	if c == nil || s.options.Sticky && s.overtakesLocked(e) {
		return
	}
	frame := map[string]any{
		"envelope_id": e.id, "type": e.kind, "payload": e.payload, "accepts_response_payload": e.kind != "events_api",
	}
	if e.kind == "events_api" {
		frame["retry_attempt"] = e.attempt
		frame["retry_reason"] = ""
		if e.attempt > 0 {
			frame["retry_reason"] = "timeout"
		}
	}
	encoded, err := json.Marshal(frame)
	if err != nil {
		s.violateLocked("an envelope cannot be encoded: %v", err)
		return
	}
	if c.queueLocked(encoded) {
		e.attempt++
		e.sent, e.on = time.Now(), c
	}
}

// overtakesLocked reports whether an envelope could be taken in before an older
// one of its channel. Those of one message may be on their way together.
func (s *Server) overtakesLocked(e *envelope) bool {
	for _, older := range s.pending {
		if older == e {
			return false
		}
		if older.channel == e.channel && older.ts != e.ts {
			return true
		}
	}
	return false
}

// redeliver sends again what was not acknowledged in time, or was on a socket
// that has ended.
func (s *Server) redeliver() {
	ticker := time.NewTicker(max(s.options.Redeliver/8, 5*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-ticker.C:
		}
		s.mu.Lock()
		for _, e := range s.pending {
			late := !e.sent.IsZero() && (time.Since(e.sent) > s.options.Redeliver || !slices.Contains(s.sockets.open, e.on))
			if s.requestURL == "" && (late || e.sent.IsZero()) {
				s.deliverLocked(e)
			}
		}
		s.mu.Unlock()
	}
}

// acknowledgedLocked takes an envelope off the list. An acknowledgement counts
// on the socket that had it last.
func (s *Server) acknowledgedLocked(id string, on *connection) {
	channel := ""
	s.pending = slices.DeleteFunc(s.pending, func(e *envelope) bool {
		taken := e.id == id && (on == nil || e.on == on)
		if taken {
			channel = e.channel
		}
		return taken
	})
	s.notifyLocked()
	if !s.options.Sticky || s.requestURL != "" {
		return
	}
	for _, e := range s.pending {
		if e.channel == channel && e.sent.IsZero() {
			s.deliverLocked(e)
		}
	}
}

// Attempts are how often each envelope that is not acknowledged was sent.
func (s *Server) Attempts() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var attempts []int
	for _, e := range s.pending {
		attempts = append(attempts, e.attempt)
	}
	return attempts
}
