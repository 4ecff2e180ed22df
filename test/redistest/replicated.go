package redistest

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Replicated is a master and its replica, over a link that can be slow.
type Replicated struct {
	Master, Replica *Server
	Link            *Link
}

// NewReplicated starts a master and a replica and waits until the replica has
// all that its master has. Close ends them.
func NewReplicated(settings ...string) (*Replicated, error) {
	settings = append([]string{"--repl-diskless-sync-delay", "0"}, settings...)
	r := &Replicated{}
	var err error
	if r.Master, err = New(settings...); err == nil {
		r.Replica, err = New(settings...)
	}
	if err == nil {
		r.Link, err = NewLink(r.Master.Addr())
	}
	if err == nil {
		err = r.pair()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// StartReplicated is NewReplicated for a test, which ends it in its clean-up.
func StartReplicated(tb testing.TB, settings ...string) *Replicated {
	tb.Helper()
	Need(tb)
	r, err := NewReplicated(settings...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Close)
	return r
}

func (r *Replicated) pair() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	if err := r.Replica.follow(ctx, r.Link.Addr()); err != nil {
		return err
	}
	return r.AwaitWhole(ctx)
}

// AwaitWhole waits until the master counts the replica, and that has its link.
func (r *Replicated) AwaitWhole(ctx context.Context) error {
	return until(ctx, func() error {
		for s, want := range map[*Server]string{r.Master: "master", r.Replica: "slave"} {
			if role, whole := s.replication(ctx); role != want || !whole {
				return fmt.Errorf("server %s is not in its place as a %s:\n%s", s.Addr(), want, s.told(ctx))
			}
		}
		return nil
	})
}

// told is what a server says of its replication.
func (s *Server) told(ctx context.Context) string {
	client := s.Client()
	defer client.Close()
	info, err := client.Info(ctx, "replication").Result()
	if err != nil {
		return err.Error()
	}
	return info
}

// FailOver kills the master and lets the replica take its place.
func (r *Replicated) FailOver(ctx context.Context) error {
	r.Master.Kill()
	client := r.Replica.Client()
	defer client.Close()
	return until(ctx, func() error {
		if err := client.ReplicaOf(ctx, "no", "one").Err(); err != nil {
			return err
		}
		if role, _ := r.Replica.replication(ctx); role != "master" {
			return errors.New("the replica is not a master yet")
		}
		return nil
	})
}

// Close ends both and removes their data.
func (r *Replicated) Close() {
	for _, s := range []*Server{r.Master, r.Replica} {
		if s != nil {
			s.Close()
		}
	}
	if r.Link != nil {
		r.Link.Close()
	}
}
