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

// answered ends the call with its answer. unsafe says why a success does not
// count, nil that it does.
func (c *call) answered(cmd *redis.Cmd, unsafe error) {
	if unsafe != nil && taken(cmd.Err()) {
		c.end(nil, unsafe)
		return
	}
	c.end(cmd.Val(), cmd.Err())
}

// base is the tag of a script's partition: see Store.evalArgs.
func (c *call) base() string {
	base, _ := c.args[3].(string)
	return base
}

// node is one Redis server: a client and the workers that gather calls into
// pipelines. While all workers are busy, calls gather; there is no waiting for
// more of them. In safe mode the calls that must be on replicas have workers of
// their own, so that no other call waits for a replica.
type node struct {
	addr        string
	client      *redis.Client
	replication replication
	queue       chan *call
	safe        chan *call // those that must be on replicas; nil: safe mode is off
	stop        chan struct{}
	stopped     sync.Once
	workers     sync.WaitGroup
}

func newNode(addr string, client *redis.Client, want replication) *node {
	n := &node{addr: addr, client: client, replication: want, queue: make(chan *call, batchMax), stop: make(chan struct{})}
	if want.replicas > 0 {
		n.safe = make(chan *call, batchMax)
	}
	for range pipelinesPerNode {
		n.workers.Go(n.work)
		if n.safe != nil {
			n.workers.Go(n.workSafely)
		}
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
	queue := n.queue
	if n.safe != nil && s != nil && s.waits {
		queue = n.safe
	}
	select {
	case queue <- c:
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

func (n *node) work() { n.serve(n.queue, false) }

func (n *node) workSafely() { n.serve(n.safe, true) }

func (n *node) serve(queue chan *call, safe bool) {
	for {
		select {
		case <-n.stop:
			return
		case c := <-queue:
			n.send(gather(queue, c), safe)
		}
	}
}

// gather adds what waits to the first call. Calls nobody waits for any more
// are dropped unsent.
func gather(queue chan *call, first *call) []*call {
	batch, bytes := []*call{first}, first.size
	for len(batch) < batchMax && bytes < batchBytesMax {
		select {
		case c := <-queue:
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

// send runs a batch in one pipeline, and waits for the replicas if it must be
// safe. Its time is bounded by the client's own time-outs, not by any caller's.
func (n *node) send(batch []*call, safe bool) {
	cmds, unsafe := n.pipeline(batch, false, safe)
	var again []*call
	for i, c := range batch {
		if c.script != nil && missing(cmds[i].Err()) {
			again = append(again, c)
			continue
		}
		c.answered(cmds[i], unsafe)
	}
	if len(again) == 0 {
		return
	}
	cmds, unsafe = n.pipeline(again, true, safe)
	for i, c := range again {
		c.answered(cmds[i], unsafe)
	}
	n.tidy(again[0].script.library)
}

// missing tells the answer of a server that has no such function: it is new,
// was emptied, or a replica that became master before it got the library.
// Nothing was run.
func missing(err error) bool { return err != nil && err.Error() == "ERR Function not found" }

// librariesMax is how many libraries of gateways a server keeps: one per
// version that has used it lately.
const librariesMax = 8

// tidy deletes the libraries of other versions when there are too many. A
// gateway that still uses one loads it again at its next call.
func (n *node) tidy(own *library) {
	ctx := context.Background() // as in pipeline
	list, err := n.client.FunctionList(ctx, redis.FunctionListQuery{LibraryNamePattern: libraryPrefix + "*"}).Result()
	if err != nil || len(list) <= librariesMax {
		return
	}
	for _, other := range list {
		if other.Name != own.name {
			_ = n.client.FunctionDelete(ctx, other.Name) // who may not delete keeps them
		}
	}
}

// pipeline sends the batch; with load each library goes before its first use.
// A server that has it by now refuses to load it twice, which is as good.
// The error says why the successes do not count; nil, that they do.
func (n *node) pipeline(batch []*call, load, safe bool) (cmds []*redis.Cmd, unsafe error) {
	ctx := context.Background() // many callers' calls: see send
	pipe := n.client.Pipeline()
	loads := map[*library]*redis.Cmd{}
	cmds = make([]*redis.Cmd, len(batch))
	for i, c := range batch {
		if load && loads[c.script.library] == nil {
			loading := redis.NewCmd(ctx, "function", "load", c.script.library.text)
			loads[c.script.library] = loading
			_ = pipe.Process(ctx, loading) // queues only
		}
		cmds[i] = redis.NewCmd(ctx, c.args...)
		_ = pipe.Process(ctx, cmds[i]) // queues only
	}
	if !safe {
		_, err := pipe.Exec(ctx)
		unanswered(cmds, err)
		unloaded(batch, cmds, loads)
		return cmds, nil
	}
	q := n.replication.ask(ctx, pipe, batch)
	_, err := pipe.Exec(ctx)
	unanswered(cmds, err)
	unanswered(q.commands(), err)
	unloaded(batch, cmds, loads)
	return cmds, n.replication.verdict(q)
}

// unloaded gives the calls whose library a server would not load its reason.
func unloaded(batch []*call, cmds []*redis.Cmd, loads map[*library]*redis.Cmd) {
	for i, c := range batch {
		if c.script == nil || loads[c.script.library] == nil || !missing(cmds[i].Err()) {
			continue
		}
		if err := loads[c.script.library].Err(); err != nil && !strings.Contains(err.Error(), "already exists") {
			cmds[i].SetErr(err)
		}
	}
}

// unanswered gives the commands whose answers a broken connection kept their error.
func unanswered(cmds []*redis.Cmd, err error) {
	for _, cmd := range cmds {
		if err != nil && cmd.Err() == nil && cmd.Val() == nil {
			cmd.SetErr(err)
		}
	}
}
