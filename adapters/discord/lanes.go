package discord

import (
	"context"
	"sync"
)

// sinksMax bounds how many events are handed to the sink at one time.
const sinksMax = 64

// lanes runs tasks: those of one key one after the other in the order they
// were added, those of different keys at the same time. A goroutine lives for
// a key only while it has tasks.
type lanes struct {
	ctx    context.Context // ends all waiting
	slots  chan struct{}
	active sync.WaitGroup

	mu     sync.Mutex
	queues map[string][]func(context.Context)
}

func newLanes(ctx context.Context) *lanes {
	return &lanes{ctx: ctx, slots: make(chan struct{}, sinksMax), queues: map[string][]func(context.Context){}}
}

// add queues a task. It never blocks: whoever adds bounds the number of tasks.
func (l *lanes) add(key string, task func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue, running := l.queues[key]
	l.queues[key] = append(queue, task)
	if !running {
		l.active.Go(func() { l.work(key) })
	}
}

func (l *lanes) work(key string) {
	for {
		task := l.next(key)
		if task == nil {
			return
		}
		task(l.ctx)
	}
}

// next takes the key's first task; nil, and the end of the lane, if there is
// none or no more time.
func (l *lanes) next(key string) func(context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	queue := l.queues[key]
	if len(queue) == 0 || l.ctx.Err() != nil {
		delete(l.queues, key)
		return nil
	}
	l.queues[key] = queue[1:]
	return queue[0]
}

// within runs f while holding one of the bounded slots; false when ctx ended
// before there was one.
func (l *lanes) within(ctx context.Context, f func()) bool {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-l.slots }()
	f()
	return true
}

// wait returns when all goroutines are gone.
func (l *lanes) wait() { l.active.Wait() }
