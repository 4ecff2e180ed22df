package lanes

import (
	"context"
	"sync"
)

// Lanes are queues of tasks, one for each key. A goroutine lives for a key
// only while it has tasks. Create them with [New].
type Lanes struct {
	ctx    context.Context // ends all waiting
	slots  chan struct{}
	max    int
	active sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	waiting int // tasks, the running ones included
	queues  map[string][]func(context.Context)
}

// New makes lanes that end with ctx. slots bounds what runs within a slot at
// one time, waiting how many tasks there are altogether; 0: whoever adds
// bounds them.
func New(ctx context.Context, slots, waiting int) *Lanes {
	return &Lanes{ctx: ctx, slots: make(chan struct{}, slots), max: waiting, queues: map[string][]func(context.Context){}}
}

// Add queues a task and never blocks. It reports false, and does nothing, when
// too many are waiting or the lanes have ended.
func (l *Lanes) Add(key string, task func(context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.max > 0 && l.waiting >= l.max || l.ctx.Err() != nil {
		return false
	}
	l.waiting++
	queue, running := l.queues[key]
	l.queues[key] = append(queue, task)
	if !running {
		l.active.Go(func() { l.work(key) })
	}
	return true
}

func (l *Lanes) work(key string) {
	for {
		task := l.next(key)
		if task == nil {
			return
		}
		task(l.ctx)
		l.mu.Lock()
		l.waiting--
		l.mu.Unlock()
	}
}

// next takes the key's first task; nil, and the end of the lane, if there is
// none. After the lanes have ended, tasks run once more, to say so.
func (l *Lanes) next(key string) func(context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[key]
	if len(queue) == 0 {
		delete(l.queues, key)
		return nil
	}
	l.queues[key] = queue[1:]
	return queue[0]
}

// Within runs f in one of the bounded slots; false when ctx ended before there
// was one.
func (l *Lanes) Within(ctx context.Context, f func()) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-l.slots }()
	f()
	return true
}

// Wait returns when all goroutines are gone. The lanes must have ended; nothing
// is added any more.
func (l *Lanes) Wait() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.active.Wait()
}
