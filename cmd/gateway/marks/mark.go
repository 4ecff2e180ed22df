package marks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"parley/cmd/gateway/config"
	"parley/cmd/gateway/wiring"
	"parley/sessions"
)

// A mark says that a gateway runs on a shared store: each replica holds one of
// a fixed number of leased locks. Who takes all of them knows that no gateway
// runs, and that none starts meanwhile. An embedded store needs no marks: one
// process has its file.
const (
	Prefix = "gateway:live:"
	Max    = 128 // replicas on one store
)

var (
	// ErrNone is returned while a migration holds the store, or while as many gateways run on it as can.
	ErrNone = fmt.Errorf("a migration uses this store (or %d gateways do already); wait until `gateway migrate` has ended", Max)
	// ErrMarked is returned while a gateway runs on the store.
	ErrMarked = errors.New("a gateway runs on it, or was killed there within the last seconds")
)

func markName(i int) string { return Prefix + strconv.Itoa(i) }

// Shared reports whether several processes can use a store at once.
func Shared(url config.URL) bool { return !strings.HasPrefix(url.Reveal(), wiring.SqliteScheme+":") }

// Mark is the one that this gateway holds.
type Mark struct {
	locks sessions.Locks
	owner string
	log   *slog.Logger
	Held  sessions.Lock
	Drop  func() // gives it back
}

// Take takes the first mark that is free. errNoMark.
func Take(ctx context.Context, locks sessions.Locks, owner string, log *slog.Logger) (*Mark, error) {
	m := &Mark{locks: locks, owner: owner, log: log}
	if err := m.take(ctx); err != nil {
		return nil, err
	}
	m.Drop = m.freeing(ctx)
	return m, nil
}

// take begins somewhere, so that replicas which start together do not all ask
// for the same.
func (m *Mark) take(ctx context.Context) error {
	hash := fnv.New32a()
	hash.Write([]byte(m.owner)) // a hash never fails
	for i := range Max {
		held, err := m.locks.Lock(ctx, markName((int(hash.Sum32()%Max)+i)%Max), m.claimer())
		if errors.Is(err, sessions.ErrBusy) {
			continue
		}
		m.Held = held
		return err
	}
	return ErrNone
}

func (m *Mark) claimer() sessions.Claimer {
	return sessions.Claimer{Owner: m.owner, For: sessions.LeaseFor}
}

// During runs use while the mark is held; its context ends when the mark is
// lost for good. A nil mark is none, of an embedded store.
func (m *Mark) During(ctx context.Context, use func(context.Context) error) error {
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
func (m *Mark) hold(ctx context.Context) error {
	ticker := time.NewTicker(sessions.RenewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := m.Renew(ctx)
		if errors.Is(err, ErrNone) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			m.log.Warn("the mark of a running gateway could not be renewed; it is tried again", "error", err)
		}
	}
}

// Renew makes the mark last longer, or says why it did not.
func (m *Mark) Renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sessions.RenewEvery)
	defer cancel()
	held, err := m.locks.Lock(ctx, m.Held.Name, m.claimer())
	if errors.Is(err, sessions.ErrBusy) {
		return m.take(ctx)
	}
	if err == nil {
		m.Held = held
	}
	return err
}

// freeing gives back the mark that is held when it is called, once. If that is
// not possible it runs out by itself.
func (m *Mark) freeing(ctx context.Context) func() {
	return sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessions.RenewEvery)
		defer cancel()
		_ = m.locks.Unlock(ctx, m.Held)
	})
}

// ReplicaName names this process among all that share a store.
func ReplicaName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "gateway"
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), rand.Text()[:6])
}
