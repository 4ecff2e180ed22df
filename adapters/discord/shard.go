package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"parley/adapters"
	"parley/internal/lanes"
	"parley/internal/pause"
)

// pendingMax is how many events of a session may wait to be taken. Beyond it
// reading stops; if that does not help for a while the connection is dropped,
// and resumed when half of them are gone.
const pendingMax = 1000

// sinksMax bounds how many events are handed to the sink at one time.
const sinksMax = 64

// shard is one of the bot's connections, and the one goroutine that runs it.
type shard struct {
	a         *Adapter
	id, count int
	gate      *gate
	sink      adapters.Sink
	log       *slog.Logger

	lanes      *lanes.Lanes   // of the lock that is held
	keep       *keeper        // of the lock that is held
	calls      sync.WaitGroup // first answers to interactions
	identifies int            // since a session lasted
	failures   int            // connections in a row that did not last
	strange    kinds
}

func (s *shard) report(state adapters.ConnectionState, problem string) {
	s.a.health.set(s.id, state, problem)
}

// run holds the shard's lock and its connection, again and again, until ctx
// ends. The error is Discord's refusal for good.
func (s *shard) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.hold(ctx); err != nil {
			return err
		}
	}
	return nil
}

// hold waits for the lock and runs the shard while it is held. The error is
// Discord's refusal for good.
func (s *shard) hold(ctx context.Context) error {
	lock, err := s.lock(ctx)
	switch {
	case err == nil:
		defer lock.Unlock()
		return s.serve(ctx, lock)
	case ctx.Err() == nil:
		s.log.Warn("the lock of the shard could not be had; it is tried again", "error", err)
		pause.For(ctx, s.a.times.retry.Max)
	}
	return nil
}

func (s *shard) lock(ctx context.Context) (adapters.Lock, error) {
	if s.a.locker == nil {
		return newSoleLock(ctx), nil
	}
	return s.a.locker.Lock(ctx, "discord:"+s.a.self().app+":"+strconv.Itoa(s.id), func() { s.report(adapters.Waiting, "") })
}

// serve runs the shard while the lock is held.
func (s *shard) serve(ctx context.Context, lock adapters.Lock) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(lock.Context(), cancel)() //nolint:contextcheck // the lock has a life of its own
	s.report(adapters.Connecting, "")
	s.keep = newKeeper(lock, s.log, s.a.times, s.count)
	s.lanes = lanes.New(ctx, sinksMax, 0)
	s.keep.keep(loadSession(lock.Data(), s.count, s.keep.moved))
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var keeper sync.WaitGroup
	keeper.Go(func() { s.keep.run(keeping) })
	err := s.connections(ctx)
	cancel()
	s.lanes.Wait()
	s.calls.Wait()
	stop()
	keeper.Wait()
	return err
}

// connections connects again and again until ctx ends or Discord refuses.
func (s *shard) connections(ctx context.Context) error {
	for !ended(ctx) {
		began := time.Now()
		end := s.connect(ctx)
		switch {
		case ended(ctx):
			return nil
		case end.next == nextNever:
			return end.reason
		}
		if end.next == nextFresh && s.keep.session() != nil {
			s.log.Warn("Discord's session is over and cannot be resumed; what was written until the next one begins is not delivered", "reason", end.reason)
			s.keep.keep(nil)
		}
		s.rest(ctx, end, time.Since(began))
	}
	return nil
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }

// rest pauses between two connections, the longer the more often they failed,
// and until the events in hand are not too many.
func (s *shard) rest(ctx context.Context, end ending, lived time.Duration) {
	if lived >= s.a.times.settled {
		s.failures, s.identifies = 0, 0
	}
	if !errors.Is(end.reason, errBehind) { // then it is the sink that fails
		s.failures++
	}
	wait := max(end.wait, s.a.times.retry.After(s.failures))
	if end.planned {
		s.report(adapters.Connecting, "")
		s.log.Info("reconnecting", "reason", end.reason, "after", wait)
	} else {
		s.report(adapters.Deaf, "no connection to Discord: "+end.reason.Error())
		s.log.Warn("the connection to Discord ended; it is tried again", "reason", end.reason, "after", wait)
	}
	pause.For(ctx, wait)
	s.catchUp(ctx)
}

func (s *shard) catchUp(ctx context.Context) {
	if session := s.keep.session(); session != nil {
		session.marks.below(ctx, pendingMax/2)
	}
}

// connect makes one connection and stays until it ends.
func (s *shard) connect(ctx context.Context) ending {
	session := s.keep.session()
	address, err := s.address(ctx, session)
	if err != nil {
		return failedEnding(err)
	}
	dialer := websocket.Dialer{HandshakeTimeout: s.a.times.dial, Proxy: http.ProxyFromEnvironment}
	call, cancel := context.WithTimeout(ctx, s.a.times.dial)
	ws, response, err := dialer.DialContext(call, socketURL(address), http.Header{"User-Agent": {userAgent}})
	cancel()
	if err != nil {
		if response != nil {
			response.Body.Close()
			err = fmt.Errorf("HTTP %d: %w", response.StatusCode, err)
		}
		return ending{next: nextResume, reason: fmt.Errorf("the gateway cannot be reached: %w", err)}
	}
	c := &connection{ws: ws, times: s.a.times, seq: s.position}
	c.handle = func(frame received) *ending { return s.frame(ctx, c, frame) }
	c.opener = func() (sending, error) {
		// The lock is checked last thing before the session is claimed.
		if ctx.Err() != nil || session == nil {
			return s.identify(), ctx.Err()
		}
		return s.resume(session), nil
	}
	return c.run(ctx)
}

// failedEnding is the ending of a connection that never was.
func failedEnding(err error) ending {
	out := ending{next: nextResume, reason: err}
	if failed, ok := errors.AsType[*apiError](err); ok {
		out.wait = failed.retryAfter
		if failed.refused() {
			return ending{next: nextNever, reason: errTokenRefused}
		}
	}
	return out
}

// resumeTries is after how many failures a resume is tried at the general
// address instead of the session's own.
const resumeTries = 3

func (s *shard) address(ctx context.Context, session *session) (string, error) {
	switch {
	case session == nil:
		return s.admit(ctx)
	case s.failures < resumeTries && s.a.leads(session.ResumeURL):
		return session.ResumeURL, nil
	}
	gateway, err := s.a.fetchGateway(ctx)
	return gateway.URL, err
}

// position is what a heartbeat tells: up to where everything is taken and a
// successor would know it, not what was received, so that Discord keeps what
// we, or it, could still ask for.
func (s *shard) position() int64 { return s.keep.position() }

// frame handles what is neither heartbeat nor its answer; an ending ends the
// connection.
func (s *shard) frame(ctx context.Context, c *connection, frame received) *ending {
	switch frame.Op {
	case opDispatch:
		c.confirmed()
		return s.dispatch(ctx, c, frame)
	case opReconnect:
		return &ending{next: nextResume, planned: true, reason: errReconnect}
	case opInvalidSession:
		var resumable bool
		if json.Unmarshal(frame.Data, &resumable) != nil || !resumable {
			return &ending{next: nextFresh, wait: s.a.times.invalid.Between(), reason: errors.New("the session is invalid, says Discord")}
		}
		return &ending{next: nextResume, wait: s.a.times.invalid.Between(), reason: errors.New("the session is not valid now, says Discord")}
	}
	if s.strange.first("op " + strconv.Itoa(frame.Op)) {
		s.log.Warn("Discord sent an operation that is not known; it is passed over", "op", frame.Op)
	}
	return nil
}
