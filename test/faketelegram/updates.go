package faketelegram

import (
	"encoding/json"
	"slices"
	"time"
)

const (
	updateLimitMax = 100
	pollTimeoutMax = 50 // seconds; the server's own clamp
	firstUpdateID  = 1000
)

type update struct {
	id   int64
	kind string
	body json.RawMessage
}

// updateQueue holds unconfirmed updates in the order they happened, and the
// one poller that waits for them.
type updateQueue struct {
	waiting []update
	head    int // waiting[:head] are confirmed
	nextID  int64
	allowed []string      // nil is the default set
	poller  chan struct{} // closed when another poll takes over; nil: none waits
	arrived chan struct{} // capacity 1
	history map[int64]update
}

func newUpdateQueue() updateQueue {
	return updateQueue{nextID: firstUpdateID, arrived: make(chan struct{}, 1), history: map[int64]update{}}
}

func (q *updateQueue) len() int { return len(q.waiting) - q.head }

func (q *updateQueue) push(u update) {
	q.waiting = append(q.waiting, u)
	q.wake()
}

func (q *updateQueue) wake() {
	select {
	case q.arrived <- struct{}{}:
	default:
	}
}

// confirm forgets every update below offset; a negative offset keeps only the
// newest -offset.
func (q *updateQueue) confirm(offset int64) {
	if offset < 0 {
		q.head = max(q.head, len(q.waiting)+int(offset))
	}
	if offset > 0 {
		for q.head < len(q.waiting) && q.waiting[q.head].id < offset {
			q.head++
		}
		rest := q.waiting[q.head:]
		if slices.ContainsFunc(rest[:min(len(rest), updateLimitMax)], func(u update) bool { return u.id < offset }) {
			q.waiting = slices.DeleteFunc(slices.Clone(rest), func(u update) bool { return u.id < offset })
			q.head = 0
		}
	}
	if q.head == len(q.waiting) {
		q.waiting, q.head = nil, 0
	}
}

func (q *updateQueue) wants(kind string) bool {
	if q.allowed != nil {
		return slices.Contains(q.allowed, kind)
	}
	return kind != "chat_member" && kind != "message_reaction" && kind != "message_reaction_count"
}

func (s *Server) getUpdates(r request) (any, error) {
	offset, err := r.integer("offset", 0)
	if err != nil {
		return nil, err
	}
	limit, err := r.integer("limit", updateLimitMax)
	if err != nil {
		return nil, err
	}
	timeout, err := r.integer("timeout", 0)
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > updateLimitMax {
		limit = updateLimitMax
	}
	replaced, err := s.startPoll(offset, r.params["allowed_updates"])
	if err != nil {
		return nil, err
	}
	return s.poll(r, replaced, int(limit), time.Duration(min(max(timeout, 0), pollTimeoutMax))*time.Second)
}

// startPoll confirms, and takes the place of any other poller.
func (s *Server) startPoll(offset int64, allowed string) (chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook != "" {
		return nil, conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	if allowed != "" {
		if err := s.queue.allow(allowed); err != nil {
			return nil, err
		}
	}
	if s.queue.poller != nil {
		close(s.queue.poller)
	}
	s.queue.poller = make(chan struct{})
	s.queue.confirm(offset)
	s.notifyLocked()
	return s.queue.poller, nil
}

func (q *updateQueue) allow(list string) error {
	var kinds []string
	if err := json.Unmarshal([]byte(list), &kinds); err != nil {
		return badRequest("can't parse allowed_updates: " + err.Error())
	}
	q.allowed = kinds
	if len(kinds) == 0 {
		q.allowed = nil
	}
	return nil
}

func (s *Server) poll(r request, replaced chan struct{}, limit int, timeout time.Duration) (any, error) {
	defer s.endPoll(replaced)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		if s.replaced(replaced) {
			s.queue.wake() // it may have taken its successor's signal
			return nil, s.whyReplaced()
		}
		if batch := s.batch(limit); len(batch) > 0 || timeout == 0 {
			return batch, nil
		}
		select {
		case <-s.queue.arrived:
		case <-replaced:
			return nil, s.whyReplaced()
		case <-timer.C:
			return []json.RawMessage{}, nil
		case <-r.http.Context().Done():
			return nil, conflict("the caller has gone")
		case <-s.closing:
			return nil, &apiError{Code: 500, Description: "Internal Server Error: restart"}
		}
	}
}

func (s *Server) replaced(signal chan struct{}) bool {
	select {
	case <-signal:
		return true
	default:
		return false
	}
}

func (s *Server) whyReplaced() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook != "" {
		return conflict("terminated by setWebhook request")
	}
	return conflict("terminated by other getUpdates request; make sure that only one bot instance is running")
}

func (s *Server) batch(limit int) []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.queue.waiting[s.queue.head:]
	batch := make([]json.RawMessage, 0, min(limit, len(rest)))
	for _, u := range rest[:min(limit, len(rest))] {
		batch = append(batch, u.body)
	}
	return batch
}

func (s *Server) endPoll(mine chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.poller == mine {
		s.queue.poller = nil
	}
}

func (s *Server) injectLocked(kind string, payload any) int64 {
	if !s.queue.wants(kind) {
		return 0
	}
	id := s.queue.nextID
	s.queue.nextID++
	body, err := json.Marshal(map[string]any{"update_id": id, kind: payload})
	if err != nil {
		s.violations = append(s.violations, "the test injected what is not JSON: "+err.Error())
		return 0
	}
	s.deliverLocked(update{id: id, kind: kind, body: body})
	return id
}

func (s *Server) deliverLocked(u update) {
	if s.options.KeepCalls == 0 {
		s.queue.history[u.id] = u
	}
	s.queue.push(u)
	s.notifyLocked()
}

// InjectRaw queues the bytes of one element of getUpdates' result, however
// broken, as long as they are JSON.
func (s *Server) InjectRaw(id int64, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliverLocked(update{id: id, kind: "raw", body: json.RawMessage(body)})
}

// Duplicate queues an earlier update again, with its old id, as after a
// confirmation that got lost. False: there is no such update, or KeepCalls is
// set, which keeps no history.
func (s *Server) Duplicate(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, found := s.queue.history[id]
	if found {
		s.deliverLocked(u)
	}
	return found
}

// RestartUpdateIDs lets ids go on at a lower number, as after a quiet week.
func (s *Server) RestartUpdateIDs(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.nextID = next
}

func (s *Server) setWebhook(r request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = r.params["url"]
	if r.params["drop_pending_updates"] == "true" {
		s.queue.waiting, s.queue.head = nil, 0
	}
	if s.queue.poller != nil {
		close(s.queue.poller)
		s.queue.poller = nil
	}
	return true, nil
}

// SetWebhook sets the webhook as another program would.
func (s *Server) SetWebhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = url
	if s.queue.poller != nil && url != "" {
		close(s.queue.poller)
		s.queue.poller = nil
	}
}

func (s *Server) deleteWebhook(r request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = ""
	if r.params["drop_pending_updates"] == "true" {
		s.queue.waiting, s.queue.head = nil, 0
	}
	return true, nil
}

func (s *Server) getWebhookInfo(request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]any{"url": s.webhook, "has_custom_certificate": false, "pending_update_count": s.queue.len()}, nil
}

func (s *Server) getMe(request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return map[string]any{
		"id": s.me.ID, "is_bot": true, "first_name": s.me.FirstName, "username": s.me.Username,
		"can_join_groups": true, "can_read_all_group_messages": s.options.ReadAllGroupMessages, "supports_inline_queries": false,
	}, nil
}
