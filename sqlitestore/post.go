package sqlitestore

import (
	"cmp"
	"context"
	"slices"

	"parley/sessions"
)

// Post stores a message.
func (s *Store) Post(ctx context.Context, request sessions.PostRequest) (sessions.PostResult, error) {
	if err := request.Check(); err != nil {
		return sessions.PostResult{}, err
	}
	entry, err := request.Entry()
	if err != nil {
		return sessions.PostResult{}, err
	}
	return written(ctx, s, func(t *tx) (sessions.PostResult, error) { return t.post(request, entry.Payload) })
}

func (t *tx) post(request sessions.PostRequest, payload []byte) (result sessions.PostResult, err error) {
	r, err := t.addressed(request)
	if err != nil {
		return result, err
	}
	if moved := movedTo(r, request.Surface, request.Held); moved != nil {
		if seen, err := t.seen(request.Key); err != nil || seen {
			return t.repeated(request.Key, err)
		}
		return result, moved
	}
	over, err := t.over(r, request)
	if err != nil {
		return result, err
	}
	if over {
		if seen, err := t.seen(request.Key); err != nil || seen {
			return t.repeated(request.Key, err)
		}
		if r, err = t.start(r, request); err != nil {
			return result, err
		}
		result.Created = true
	}
	fresh, err := t.once(cmp.Or(request.Surface, request.Session), request.Key, sessions.DedupeFor, r.num, r.seq+1)
	if err != nil || !fresh {
		return t.repeated(request.Key, err)
	}
	return t.store(r, request, payload, result)
}

// movedTo refuses what was meant for another session than the surface's.
func movedTo(bound *row, surface, held string) error {
	if held == "" || bound == nil || bound.id == held {
		return nil
	}
	return &sessions.MovedError{Surface: surface, Session: bound.id}
}

func (t *tx) repeated(key string, err error) (sessions.PostResult, error) {
	if err != nil {
		return sessions.PostResult{}, err
	}
	return t.duplicate(key)
}

// addressed finds the session a post goes to; nil: one is to be created.
func (t *tx) addressed(request sessions.PostRequest) (*row, error) {
	if request.Session == "" {
		return t.findBound(request.Surface)
	}
	r, err := t.load(request.Session)
	if err != nil || r.state != sessions.StateExpired {
		return r, err
	}
	if seen, err := t.seen(request.Key); err != nil || seen {
		return r, err // the duplicate is found again, and answered, by its key
	}
	return nil, r.refuse("post")
}

// over reports whether a surface is to have another session than the one it has.
func (t *tx) over(r *row, request sessions.PostRequest) (bool, error) {
	if r == nil || r.state == sessions.StateExpired {
		return true, nil
	}
	if r.kind != sessions.Group || request.Shows() != sessions.Direct {
		return false, nil
	}
	d, err := t.detail(r)
	if err != nil || !request.Stranger(d.Source, d.Surfaces) {
		return false, err
	}
	user, err := t.userOf(request.UserID)
	if err != nil {
		return false, err
	}
	participants, err := t.participants(r)
	return !slices.Contains(participants, user), err
}

// start creates the session of a surface, in the place of the one it leaves.
func (t *tx) start(left *row, request sessions.PostRequest) (*row, error) {
	if left != nil {
		if err := t.detach(left, request.Surface); err != nil {
			return nil, err
		}
		if err := t.save(left); err != nil {
			return nil, err
		}
	}
	return t.create(request.New, request.Surface)
}

// store writes the entry, queues it if it triggers, and claims.
func (t *tx) store(r *row, request sessions.PostRequest, payload []byte, result sessions.PostResult) (sessions.PostResult, error) {
	if request.Trigger && r.queued >= sessions.QueueMax {
		return result, sessions.ErrQueueFull
	}
	if err := t.note(r, request); err != nil {
		return result, err
	}
	result.Session, result.Outcome = r.id, sessions.PostLogged
	quick := r.claimedBy(request) && r.queued == 0 // not through the queue
	waits := !quick && (request.Trigger || r.open() || r.queued > 0)
	parent := int64(0)
	if !waits {
		parent = r.leaf
	}
	entry, err := t.insert(r, sessions.EntryMessage, payload, parent, waits)
	if err != nil {
		return result, err
	}
	result.Seq = entry.Seq
	if !waits {
		r.grow(entry.Seq)
	}
	if request.Trigger {
		return t.trigger(r, request, result, quick)
	}
	if waits {
		r.loggedWaiting++
	}
	return result, t.save(r)
}

// claimedBy reports whether a post takes up what waits, itself included.
func (r *row) claimedBy(request sessions.PostRequest) bool {
	return request.Trigger && request.Claim != nil && request.Debounce == 0 && !r.open()
}

// note keeps the record up with a message.
func (t *tx) note(r *row, request sessions.PostRequest) error {
	if err := t.mend(r, request.Shows()); err != nil {
		return err
	}
	r.revive(t.now, request.Trigger)
	if request.Message.Role == sessions.RoleUser {
		r.messages++
	}
	if request.Message.Text != "" {
		r.preview = sessions.PreviewOf(request.Message.Text)
	}
	if request.Message.Text != "" && !r.described {
		if err := t.patch(r, sessions.Patch{Description: &sessions.Description{Text: request.Message.Text, Source: sessions.DescriptionFallback}}); err != nil {
			return err
		}
	}
	return t.join(r, request.UserID, r.seq+1)
}

// mend corrects a type that a message shows to be wrong.
func (t *tx) mend(r *row, shown sessions.Type) error {
	if shown == "" || shown == r.kind {
		return nil
	}
	d, err := t.detail(r)
	if err != nil {
		return err
	}
	source, changed := d.Source.Mended(shown, d.Surfaces)
	if !changed {
		return nil
	}
	d.Source, r.kind = source, source.Type
	if _, err := t.exec("UPDATE sessions SET type = ? WHERE num = ?", r.kind, r.num); err != nil {
		return err
	}
	return t.saveDetail(r)
}

// trigger queues the newest entry for a turn, and claims if the post does.
// quick: it is in the tree already, and the turn's only message.
func (t *tx) trigger(r *row, request sessions.PostRequest, result sessions.PostResult, quick bool) (sessions.PostResult, error) {
	m := message{
		Seq: r.seq, Rights: request.Rights, Surface: request.Surface, Alone: request.Alone,
		SentAt: request.Message.SentAt.UnixMilli(), Sequence: request.Message.Sequence,
	}
	claimed := r.claimedBy(request)
	r.readyAt = t.after(request.Debounce)
	if err := t.admit(r, m, quick, claimed); err != nil {
		return result, err
	}
	if !claimed {
		result.Outcome = sessions.PostQueued
		return result, t.save(r)
	}
	result.Outcome = sessions.PostClaimed
	var err error
	result.Turn, err = t.begin(r, *request.Claim, request.Known)
	return result, err
}

// admit puts a message into the queue or, quick, into the open turn, and opens
// the turn if it is claimed.
func (t *tx) admit(r *row, m message, quick, claimed bool) error {
	if quick {
		return r.openTurn([]message{m})
	}
	if err := t.queue(r, m); err != nil || !claimed {
		return err
	}
	return t.takeQueued(r)
}

// queue puts a message that waits at the end of the queue.
func (t *tx) queue(r *row, m message) error {
	r.queued++
	_, err := t.exec("INSERT INTO queue (session, seq, rights, surface, alone, sent_at, sequence) VALUES (?, ?, ?, ?, ?, ?, ?)",
		r.num, m.Seq, m.Rights, m.Surface, m.Alone, m.SentAt, m.Sequence)
	return err
}
