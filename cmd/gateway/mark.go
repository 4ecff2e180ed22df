package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/cmd/gateway/config"
	"parley/sessions"
)

// A mark says that a gateway runs on a shared store: each replica holds one of
// a fixed number of leased locks. Who takes all of them knows that no gateway
// runs, and that none starts meanwhile. An embedded store needs no marks: one
// process has its file.
const (
	markPrefix = "gateway:live:"
	marksMax   = 128 // replicas on one store
)

var (
	// errNoMark: a migration holds the store, or as many gateways run on it as can.
	errNoMark = fmt.Errorf("a migration uses this store (or %d gateways do already); wait until `gateway migrate` has ended", marksMax)
	// errMarked: a gateway runs on the store.
	errMarked = errors.New("a gateway runs on it, or was killed there within the last seconds")
)

func markName(i int) string { return markPrefix + strconv.Itoa(i) }

// shared reports whether several processes can use a store at once.
func shared(url config.URL) bool { return !strings.HasPrefix(url.Reveal(), sqliteScheme+":") }

// mark is the one that this gateway holds.
type mark struct {
	locks sessions.Locks
	owner string
	log   *slog.Logger
	held  sessions.Lock
	drop  func() // gives it back
}

// takeMark takes the first mark that is free. errNoMark.
func takeMark(ctx context.Context, locks sessions.Locks, owner string, log *slog.Logger) (*mark, error) {
	m := &mark{locks: locks, owner: owner, log: log}
	if err := m.take(ctx); err != nil {
		return nil, err
	}
	m.drop = m.freeing(ctx)
	return m, nil
}

// take begins somewhere, so that replicas which start together do not all ask
// for the same.
func (m *mark) take(ctx context.Context) error {
	hash := fnv.New32a()
	hash.Write([]byte(m.owner)) // a hash never fails
	for i := range marksMax {
		held, err := m.locks.Lock(ctx, markName((int(hash.Sum32()%marksMax)+i)%marksMax), m.claimer())
		if errors.Is(err, sessions.ErrBusy) {
			continue
		}
		m.held = held
		return err
	}
	return errNoMark
}

func (m *mark) claimer() sessions.Claimer {
	return sessions.Claimer{Owner: m.owner, For: sessions.LeaseFor}
}

// during runs use while the mark is held; its context ends when the mark is
// lost for good. A nil mark is none, of an embedded store.
func (m *mark) during(ctx context.Context, use func(context.Context) error) error {
	if m == nil {
		return use(ctx)
	}
	holding, end := context.WithCancel(context.WithoutCancel(ctx)) // what use does behind its context's end needs it too
	defer end()
	ctx, lose := context.WithCancel(ctx)
	defer lose()
	var marked errgroup.Group
	marked.Go(func() error {
		defer lose()
		return m.hold(holding)
	})
	err := use(ctx)
	end()
	return errors.Join(err, marked.Wait())
}

// hold keeps the mark until ctx ends. If it was lost while the store did not
// answer, another is taken; errNoMark then means that a migration has begun in
// the meantime, and that the gateway must not write any more.
func (m *mark) hold(ctx context.Context) error {
	ticker := time.NewTicker(sessions.RenewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := m.renew(ctx)
		if errors.Is(err, errNoMark) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			m.log.Warn("the mark of a running gateway could not be renewed; it is tried again", "error", err)
		}
	}
}

func (m *mark) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sessions.RenewEvery)
	defer cancel()
	held, err := m.locks.Lock(ctx, m.held.Name, m.claimer())
	if errors.Is(err, sessions.ErrBusy) {
		return m.take(ctx)
	}
	if err == nil {
		m.held = held
	}
	return err
}

// freeing gives back the mark that is held when it is called, once. If that is
// not possible it runs out by itself.
func (m *mark) freeing(ctx context.Context) func() {
	return sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.RenewEvery)
		defer cancel()
		_ = m.locks.Unlock(ctx, m.held)
	})
}
