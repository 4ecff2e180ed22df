package redisstore

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Limits of the pipelines that concurrent calls share.
const (
	pipelinesPerNode = 4       // in flight at once
	batchMax         = 128     // calls in one pipeline
	batchBytesMax    = 1 << 20 // of arguments in one pipeline, unless one call has more
)

// errNotSent: the node was closed before the call was sent to it.
var errNotSent = errors.New("the connection was closed before the call")

// call is one command on its way to a node and back. Its owner reads val and
// err after done is closed.
type call struct {
	ctx    context.Context
	args   []any
	script *script // nil: a plain command
	size   int     // of the arguments, about
	done   chan struct{}
	val    any
	err    error
}

func (c *call) end(val any, err error) {
	c.val, c.err = val, err
	close(c.done)
}

// node is one Redis server: a client and the workers that gather calls into
// pipelines. While all workers are busy, calls gather; there is no waiting for
// more of them.
type node struct {
	addr    string
	client  *redis.Client
	queue   chan *call
	stop    chan struct{}
	stopped sync.Once
	workers sync.WaitGroup
}

func newNode(addr string, client *redis.Client) *node {
	n := &node{addr: addr, client: client, queue: make(chan *call, batchMax), stop: make(chan struct{})}
	for range pipelinesPerNode {
		n.workers.Go(n.work)
	}
	return n
}

// close ends the workers when what they have sent is answered, and the
// connections. Calls still in the queue end with errNotSent.
func (n *node) close() {
	n.stopped.Do(func() {
		close(n.stop)
		n.workers.Wait()
		_ = n.client.Close() // nothing is left to lose
	})
}

// do sends a command and waits for its answer, or for ctx: then the command
// may run all the same.
func (n *node) do(ctx context.Context, s *script, args []any) (any, error) {
	c := &call{ctx: ctx, args: args, script: s, size: sizeOf(args), done: make(chan struct{})}
	select {
	case n.queue <- c:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.stop:
		return nil, errNotSent
	}
	select {
	case <-c.done:
		return c.val, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-n.stop:
		return n.late(c)
	}
}

// late gives a call that the workers had taken before the stop its answer.
func (n *node) late(c *call) (any, error) {
	n.workers.Wait()
	select {
	case <-c.done:
		return c.val, c.err
	default:
		return nil, errNotSent
	}
}

func sizeOf(args []any) int {
	size := 0
	for _, a := range args {
		if text, ok := a.(string); ok {
			size += len(text)
		}
	}
	return size
}

func (n *node) work() {
	for {
		select {
		case <-n.stop:
			return
		case c := <-n.queue:
			n.send(n.gather(c))
		}
	}
}

// gather adds what waits to the first call. Calls nobody waits for any more
// are dropped unsent.
func (n *node) gather(first *call) []*call {
	batch, bytes := []*call{first}, first.size
	for len(batch) < batchMax && bytes < batchBytesMax {
		select {
		case c := <-n.queue:
			if c.ctx.Err() != nil {
				c.end(nil, c.ctx.Err())
				continue
			}
			batch = append(batch, c)
			bytes += c.size
		default:
			return batch
		}
	}
	return batch
}

// send runs a batch in one pipeline. Its time is bounded by the client's own
// time-outs, not by any caller's.
func (n *node) send(batch []*call) {
	cmds := n.pipeline(batch, false)
	var missing []*call
	for i, c := range batch {
		err := cmds[i].Err()
		if c.script != nil && err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
			missing = append(missing, c)
			continue
		}
		c.end(cmds[i].Val(), err)
	}
	if len(missing) == 0 {
		return
	}
	cmds = n.pipeline(missing, true)
	for i, c := range missing {
		c.end(cmds[i].Val(), cmds[i].Err())
	}
}

// pipeline sends the batch; with load each script goes before its first use.
func (n *node) pipeline(batch []*call, load bool) []*redis.Cmd {
	ctx := context.Background() // many callers' calls: see send
	pipe := n.client.Pipeline()
	loaded := map[*script]bool{}
	cmds := make([]*redis.Cmd, len(batch))
	for i, c := range batch {
		if load && !loaded[c.script] {
			loaded[c.script] = true
			_ = pipe.Process(ctx, redis.NewCmd(ctx, "script", "load", c.script.source)) // queues only
		}
		cmds[i] = redis.NewCmd(ctx, c.args...)
		_ = pipe.Process(ctx, cmds[i]) // queues only
	}
	_, err := pipe.Exec(ctx)
	for _, cmd := range cmds {
		if err != nil && cmd.Err() == nil && cmd.Val() == nil {
			cmd.SetErr(err) // the connection broke before this answer
		}
	}
	return cmds
}
