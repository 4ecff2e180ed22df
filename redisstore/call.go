package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"parley/internal/pause"
	"parley/sessions"
)

// Bounds of one operation.
const (
	retryFor     = 2 * time.Second       // how long a command that was certainly not executed is tried again
	retryFirst   = 20 * time.Millisecond // before the second try; doubled up to retryMax
	retryMax     = 400 * time.Millisecond
	operationFor = 6 * time.Second // at most, whatever happens
)

// outcome says what is known of a command that did not succeed.
type outcome int

const (
	unknown   outcome = iota // it may have run
	refused                  // it was not run; the node may take it later
	elsewhere                // it was not run; another node has the slot
	broken                   // it was not run and never will be: our own fault
)

// refusals are the error codes with which a server answers before it runs
// anything. A function says what it does, and is refused as a whole.
var refusals = []string{ //nolint:gochecknoglobals // constant
	"LOADING", "READONLY", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "BUSY", "ASK", "OOM", "MISCONF", "NOREPLICAS",
}

// outcomeOf reads an error of a command. A slot that is being moved answers ASK:
// it is waited for, not followed, for the other node has only half of it yet.
func outcomeOf(err error) outcome {
	var server redis.Error
	var op *net.OpError
	var short *ReplicasError
	switch {
	case errors.As(err, &short):
		return unknown
	case errors.Is(err, errNotSent), errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrClosed):
		return refused
	case errors.As(err, &server):
		code, _, _ := strings.Cut(err.Error(), " ")
		if code == "MOVED" {
			return elsewhere
		}
		if slices.Contains(refusals, code) {
			return refused
		}
		if missing(err) {
			return refused
		}
		if code == "ERR" || code == "WRONGTYPE" || code == "CROSSSLOT" {
			return broken
		}
		return unknown
	case errors.As(err, &op) && op.Op == "dial":
		return refused
	}
	return unknown
}

// run runs a script in a partition. The values become strings.
func (s *Store) run(ctx context.Context, p partition, sc *script, values ...any) (any, error) {
	return s.send(ctx, p, sc, s.evalArgs(p, sc, values), retryFor)
}

func (s *Store) evalArgs(p partition, sc *script, values []any) []any {
	args := make([]any, 0, len(values)+5)
	args = append(args, "fcall", sc.function, 1, p.base, s.config.Offset().Milliseconds())
	return append(args, values...)
}

// command runs a plain command in a partition.
func (s *Store) command(ctx context.Context, p partition, args ...any) (any, error) {
	return s.send(ctx, p, nil, args, retryFor)
}

// send tries a command until it has an answer, its outcome is unknown, or the
// time for repeating it is over; with no such time it is tried once.
func (s *Store) send(ctx context.Context, p partition, sc *script, args []any, repeat time.Duration) (any, error) {
	if s.closed.Load() {
		return nil, sessions.ErrClosed
	}
	if err := ctx.Err(); err != nil { // a call nobody waits for is not sent
		return nil, s.failure(ctx, sc, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, operationFor, errSlow)
	defer cancel()
	until := time.Now().Add(repeat)
	for again := retryFirst; ; again = min(2*again, retryMax) {
		table := s.router.table.Load()
		val, err := (*table)[p.index].do(ctx, sc, args)
		if err == nil {
			return val, nil
		}
		if ctx.Err() != nil || s.closed.Load() {
			return nil, s.failure(ctx, sc, err)
		}
		if f := outcomeOf(err); f != refused && f != elsewhere {
			return nil, s.failure(ctx, sc, err)
		}
		if err := s.router.refresh(ctx, table); err != nil {
			s.config.Logger.DebugContext(ctx, "cannot read the cluster's slots", "error", err)
		}
		if time.Now().After(until) || !pause.For(ctx, again) {
			return nil, s.failure(ctx, sc, err)
		}
	}
}

var errSlow = fmt.Errorf("no answer within %s", operationFor)

// failure is the error a caller sees.
func (s *Store) failure(ctx context.Context, sc *script, err error) error {
	name := "command"
	if sc != nil {
		name = sc.name
	}
	switch {
	case s.closed.Load():
		return sessions.ErrClosed
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSlow):
		return fmt.Errorf("%s: %w", name, ctx.Err())
	case outcomeOf(err) == broken:
		return fmt.Errorf("redis refuses %s: %w", name, err)
	}
	return fmt.Errorf("%s: %w: %w", name, sessions.ErrUnavailable, s.scrub(advised(err)))
}

// scrub keeps the password out of errors that others made.
func (s *Store) scrub(err error) error {
	if s.password == "" || !strings.Contains(err.Error(), s.password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), s.password, "***"))
}
