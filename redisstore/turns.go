package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"parley/sessions"
)

// claimMillis is a claimer's time; 0: there is none.
func claimMillis(c *sessions.Claimer) int64 {
	if c == nil {
		return 0
	}
	return c.For.Milliseconds()
}

// Post stores a message.
func (s *Store) Post(ctx context.Context, request sessions.PostRequest) (sessions.PostResult, error) {
	if err := request.Check(); err != nil {
		return sessions.PostResult{}, err
	}
	entry, err := request.Entry()
	if err != nil {
		return sessions.PostResult{}, err
	}
	if request.Session != "" {
		result, _, err := s.postIn(ctx, s.of(request.Session), request, entry, request.Session, "")
		return result, err
	}
	return s.postSurface(ctx, request, entry)
}

// postSurface posts at the surface's home. Where the surface is bound to a
// session of another partition, the home remembers the key with its target and
// the session's own partition stores the message; if that session has ended
// meanwhile, or is not its sender's to write into, the home begins a new one.
func (s *Store) postSurface(ctx context.Context, request sessions.PostRequest, entry sessions.NewEntry) (sessions.PostResult, error) {
	homeOf := s.ofSurface(request.Surface)
	result, moved, err := s.postIn(ctx, homeOf, request, entry, "", "")
	if err != nil || moved == "" {
		return result, err
	}
	result, _, err = s.postIn(ctx, s.of(moved), request, entry, moved, "")
	var state *sessions.StateError
	if err == nil || !errors.Is(err, sessions.ErrNotFound) && !errors.As(err, &state) {
		return result, err
	}
	result, again, err := s.postIn(ctx, homeOf, request, entry, "", moved)
	if again != "" {
		return result, fmt.Errorf("surface is being moved: %w", sessions.ErrUnavailable)
	}
	if err == nil {
		s.leave(ctx, moved, request.Surface)
	}
	return result, err
}

// leave takes a surface off a session of another partition that it is not
// bound to any more. surfaces[] only follows the bindings: a failure is logged.
func (s *Store) leave(ctx context.Context, session, surface string) {
	_, err := s.apply(ctx, "s:"+session, []step{{newToken(), "drop", surface}}, nil)
	if err != nil {
		s.config.Logger.WarnContext(ctx, "a session still names a surface that it has lost", "session", session, "error", err)
	}
}

// postIn runs the post in one partition. moved is the session of another one
// that the surface is bound to.
func (s *Store) postIn(ctx context.Context, p partition, request sessions.PostRequest, entry sessions.NewEntry, session, ended string) (result sessions.PostResult, moved string, err error) {
	nonce := newToken()
	args, err := s.postArgs(ctx, p, request, entry, session, ended, nonce)
	if err != nil {
		return result, "", err
	}
	code, r, err := s.answer(ctx, p, s.scripts.post, args...)
	if err != nil {
		return result, "", err
	}
	switch code {
	case "moved":
		return result, r.text(), r.err
	case "elsewhere":
		return result, "", errors.Join(&sessions.MovedError{Surface: request.Surface, Session: r.text()}, r.err)
	case "dup":
		return sessions.PostResult{Outcome: sessions.PostDuplicate, Session: r.text(), Seq: r.number()}, "", r.err
	case string(sessions.PostLogged), string(sessions.PostQueued), string(sessions.PostClaimed):
		result = sessions.PostResult{Outcome: sessions.PostOutcome(code), Session: r.text(), Seq: r.number(), Created: r.flag()}
	default:
		return result, "", r.refusal(code, "post")
	}
	if result.Outcome == sessions.PostClaimed {
		result.Turn, err = s.turn(ctx, p, result.Session, nonce, r.list())
	}
	return result, "", errors.Join(err, r.err)
}

func (s *Store) postArgs(ctx context.Context, p partition, request sessions.PostRequest, entry sessions.NewEntry, session, ended, nonce string) ([]any, error) {
	if strings.ContainsRune(request.Rights, '\n') { // scripts keep it as one line
		return nil, &sessions.InvalidError{What: "rights", Why: "it must be one line"}
	}
	blob, inline, err := s.payload(ctx, p, entry.Payload)
	if err != nil {
		return nil, err
	}
	m := request.Message
	counts := m.Role == sessions.RoleUser
	args := []any{session, request.Surface, request.Key, dedupeFor, request.UserID, bit(counts),
		sessions.PreviewOf(m.Text), sessions.DescriptionOf(m.Text), blob, inline,
		bit(request.Trigger), request.Rights, orderOf(m), bit(request.Alone), request.Debounce.Milliseconds(),
		sessions.QueueMax, claimMillis(request.Claim), nonce, request.Known.Session, request.Known.Seq,
		sessions.CollectMax, sessions.TailMax}
	if session != "" {
		return append(args, "", "", "", "", "", ended, "", shows(request), bit(request.Anywhere)), nil
	}
	fresh := request.New
	fresh.Surface = request.Surface
	made, err := coldOf(fresh, request.Surface)
	if err != nil {
		return nil, err
	}
	bare, random := s.idsFor(fresh)
	return append(args, fresh.ID, bare, random, fresh.UserID, made, ended, request.Held, shows(request), bit(request.Anywhere)), nil
}

// shows is what a post shows of its surface, as the scripts know types.
func shows(request sessions.PostRequest) string {
	switch request.Shows() {
	case sessions.Direct:
		return "d"
	case sessions.Group:
		return "g"
	}
	return ""
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// orderOf sorts as text like (SentAt in milliseconds, Sequence) do.
func orderOf(m sessions.Message) string { return orderText(m.SentAt, m.Sequence) }

const orderFlip = 1 << 63

func orderText(sentAt time.Time, sequence int64) string {
	return fmt.Sprintf("%020d%020d", uint64(sentAt.UnixMilli())^orderFlip, uint64(sequence)^orderFlip) //nolint:gosec // keeps the order
}

// turn reads what the scripts' begin function returns.
func (s *Store) turn(ctx context.Context, p partition, session, nonce string, r *reply) (*sessions.Turn, error) {
	t := &sessions.Turn{Lease: sessions.Lease{Session: session, Nonce: nonce, Epoch: r.number()}, Attempt: int(r.number()), Stop: r.flag()}
	var err error
	if t.Record, err = r.list().record(); err != nil {
		return nil, err
	}
	var seqs []int64
	var texts []string
	for taken := r.list(); taken.more(); {
		seqs, texts = append(seqs, taken.number()), append(texts, taken.text())
	}
	if t.Taken, err = s.numbered(ctx, p, seqs, texts); err != nil {
		return nil, err
	}
	tail := r.list()
	from, first := tail.number(), tail.number()
	if texts = tail.list().texts(); tail.err != nil {
		return nil, tail.err
	}
	t.TailFrom = from
	t.Tail, err = s.entries(ctx, p, first, texts)
	return t, errors.Join(err, r.err)
}

// Claim takes a session's lease and its messages.
func (s *Store) Claim(ctx context.Context, request sessions.ClaimRequest) (*sessions.Turn, error) {
	if err := request.Check(); err != nil {
		return nil, err
	}
	p, nonce := s.of(request.Session), newToken()
	code, r, err := s.answer(ctx, p, s.scripts.claim, request.Session, nonce, request.Claimer.For.Milliseconds(),
		request.Known.Session, request.Known.Seq, sessions.CollectMax, sessions.TailMax)
	if err != nil {
		return nil, err
	}
	if code != "turn" {
		return nil, r.refusal(code, "claim")
	}
	return s.turn(ctx, p, request.Session, nonce, r.list())
}

// Renew extends leases: one script per partition, at the same time. The leases
// of a partition that does not answer are Unknown; if none answers, that is an
// error.
func (s *Store) Renew(ctx context.Context, leases []sessions.Lease, extend time.Duration) ([]sessions.RenewResult, error) {
	if err := sessions.CheckRenew(leases, extend); err != nil {
		return nil, err
	}
	places := map[int][]int{}
	for i, l := range leases {
		index := s.of(l.Session).index
		places[index] = append(places[index], i)
	}
	out := make([]sessions.RenewResult, len(leases))
	var mu sync.Mutex
	var failures []error
	var group sync.WaitGroup
	for index, list := range places {
		group.Go(func() {
			err := s.renewIn(ctx, s.parts[index], leases, list, extend, out)
			if err == nil {
				return
			}
			for _, i := range list {
				out[i] = sessions.RenewResult{Unknown: true}
			}
			mu.Lock()
			defer mu.Unlock()
			failures = append(failures, err)
		})
	}
	group.Wait()
	if len(failures) > 0 && len(failures) == len(places) {
		return nil, failures[0]
	}
	return out, nil
}

func (s *Store) renewIn(ctx context.Context, p partition, leases []sessions.Lease, list []int, extend time.Duration, out []sessions.RenewResult) error {
	args := []any{extend.Milliseconds(), len(list)}
	for _, i := range list {
		args = append(args, leases[i].Session, leases[i].Epoch, leases[i].Nonce)
	}
	val, err := s.run(ctx, p, s.scripts.renew, args...)
	if err != nil {
		return err
	}
	r := read(val)
	for _, i := range list {
		n := r.number()
		out[i] = sessions.RenewResult{Held: n > 0, Stop: n == 2}
	}
	return r.err
}

// Append writes entries of a running turn.
func (s *Store) Append(ctx context.Context, lease sessions.Lease, list []sessions.NewEntry) ([]sessions.Entry, error) {
	if err := lease.Check(); err != nil {
		return nil, err
	}
	if err := sessions.CheckEntries(list); err != nil {
		return nil, err
	}
	p := s.of(lease.Session)
	args, entries, err := s.entryArgs(ctx, p, list)
	if err != nil {
		return nil, err
	}
	code, r, err := s.answer(ctx, p, s.scripts.appendTo, append([]any{lease.Session, lease.Epoch, lease.Nonce}, args...)...)
	if err != nil {
		return nil, err
	}
	if code != "ok" {
		return nil, r.refusal(code, "append")
	}
	return r.written(entries), r.err
}

// Stop asks the open turn to stop.
func (s *Store) Stop(ctx context.Context, session string) (bool, error) {
	if err := sessions.CheckID(session); err != nil {
		return false, err
	}
	code, _, err := s.answer(ctx, s.of(session), s.scripts.stop, session)
	if code == "missing" {
		return false, sessions.ErrNotFound
	}
	return code == "asked", err
}

// Again opens the session's last turn once more.
func (s *Store) Again(ctx context.Context, request sessions.AgainRequest) (*sessions.Turn, bool, error) {
	if err := request.Check(); err != nil {
		return nil, false, err
	}
	p, nonce := s.of(request.Session), newToken()
	code, r, err := s.answer(ctx, p, s.scripts.again, request.Session, request.Key, dedupeFor, claimMillis(request.Claim), nonce,
		request.Known.Session, request.Known.Seq, sessions.CollectMax, sessions.TailMax)
	switch {
	case err != nil:
		return nil, false, err
	case code == "dup":
		return nil, true, nil
	case code == "due":
		return nil, false, nil
	case code != "turn":
		return nil, false, r.refusal(code, "run the last turn again")
	}
	turn, err := s.turn(ctx, p, request.Session, nonce, r.list())
	return turn, false, err
}
