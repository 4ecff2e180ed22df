package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// Limits of safe mode.
const (
	replicasMax    = 8                       // that can be waited for
	replicasWithin = 1500 * time.Millisecond // half of what Slack, the most impatient platform, gives an acknowledgement
)

// replication says where a call's writes must be before it has succeeded. The zero
// value is safe mode off: on the node itself.
type replication struct {
	replicas int  // of the node that must have them
	synced   bool // on the disks of the node and of these replicas
}

// unwaited are the scripts that write and do not wait for replicas: nobody is
// told of their end, and what a failover takes back of them is done again, or
// runs out, by itself. ADR 4 has the reason of each.
func unwaited() []string {
	return []string{"renew", "take", "settle", "forward_done", "timer_fire", "lock", "lock_save", "lock_release", "sweep", "meta"}
}

// ReplicasError is a call in safe mode of which too few replicas said in time
// that they have what it wrote. The node has it, so the call took effect, unless the
// node is replaced by a replica that lacks it. To repeat it with the same key
// is safe, and waits as well. Temporary; it comes wrapped in
// sessions.ErrUnavailable.
type ReplicasError struct {
	Want, Have int
	Within     time.Duration
	Synced     bool  // it was to be on disks
	Cause      error // why the node could not be asked; nil: it has answered
}

// Error says what is known, and what to do.
func (e *ReplicasError) Error() string {
	where, look := "have it", "look at the replicas (INFO replication)"
	if e.Synced {
		where, look = "have it on disk", "look at the replicas (INFO replication) and whether they set appendonly yes and appendfsync always"
	}
	if e.Cause != nil {
		return fmt.Sprintf("the master cannot say whether %d of its replicas %s: %v; it may have taken effect and is safe to repeat", e.Want, where, e.Cause)
	}
	return fmt.Sprintf("%d of %d replicas %s after %s; it may have taken effect and is safe to repeat; %s, or lower replicas= in the store's URL", e.Have, e.Want, where, e.Within, look)
}

// Unwrap gives the cause.
func (e *ReplicasError) Unwrap() error { return e.Cause }

// question is what a pipeline ends with in safe mode: whether the replicas have
// all that was written before it.
type question struct {
	marks []*redis.Cmd
	wait  *redis.Cmd
}

// ask puts the question behind a batch, on the connection that has sent it:
// since 7.2 a server waits for the last write of that connection, which may be
// older than what a duplicate in the batch stands for. Hence the marks, which
// are writes of no meaning; a second one, for a slot may just be moving away.
func (want replication) ask(ctx context.Context, pipe redis.Pipeliner, batch []*call) *question {
	q := &question{}
	bases := []string{batch[0].base(), batch[len(batch)-1].base()}
	for _, base := range slices.Compact(bases) {
		q.marks = append(q.marks, redis.NewCmd(ctx, "set", base+":ping", "", "px", time.Second.Milliseconds()))
	}
	q.wait = redis.NewCmd(ctx, "wait", want.replicas, replicasWithin.Milliseconds())
	if want.synced {
		q.wait = redis.NewCmd(ctx, "waitaof", 1, want.replicas, replicasWithin.Milliseconds())
	}
	for _, cmd := range q.commands() {
		_ = pipe.Process(ctx, cmd) // queues only
	}
	return q
}

func (q *question) commands() []*redis.Cmd { return append(slices.Clone(q.marks), q.wait) }

// failed is why the question has no answer, nil if it has one.
func (q *question) failed() error {
	var failure error
	for _, mark := range q.marks {
		if failure = mark.Err(); failure == nil {
			return q.wait.Err()
		}
	}
	return failure
}

// verdict reads the answer: nil if the replicas have it.
func (want replication) verdict(q *question) error {
	short := &ReplicasError{Want: want.replicas, Within: replicasWithin, Synced: want.synced}
	if short.Cause = q.failed(); short.Cause != nil {
		return short
	}
	var node bool
	node, short.Have, short.Cause = confirmed(q.wait.Val())
	if short.Cause == nil && node && short.Have >= want.replicas {
		return nil
	}
	return short
}

// confirmed reads how many replicas have it, and whether the node itself has
// it on disk where that was asked.
func confirmed(val any) (node bool, replicas int, err error) {
	switch val := val.(type) {
	case int64:
		return true, int(val), nil
	case []any:
		r := &reply{parts: val}
		node, replicas = r.flag(), int(r.number())
		return node, replicas, r.err
	}
	return false, 0, errReply
}

// taken reports whether a call with this error may have been answered by a
// script: then what it wrote has to be on the replicas.
func taken(err error) bool { return err == nil || errors.Is(err, redis.Nil) }
