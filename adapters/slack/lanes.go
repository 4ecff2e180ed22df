package slack

import (
	"context"
	"sync"
)

// Bounds of what is on its way to the sink.
const (
	sinksMax   = 64  // at one time
	waitingMax = 512 // altogether; what comes beyond is left unacknowledged
)

// lanes runs tasks: those of one key one after the other in the order they
// were added, those of different keys at the same time. A goroutine lives for
// a key only while it has tasks.
type lanes struct {
	ctx    context.Context // ends all waiting
	slots  chan struct{}
	active sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	waiting int // tasks, the running ones included
	queues  map[string][]func(context.Context)
}

func newLanes(ctx context.Context) *lanes {
	return &lanes{ctx: ctx, slots: make(chan struct{}, sinksMax), queues: map[string][]func(context.Context){}}
}

// add queues a task and never blocks. It reports false, and does nothing, when
// too many are waiting or the lanes have ended.
func (l *lanes) add(key string, task func(context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.waiting >= waitingMax || l.ctx.Err() != nil {
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

func (l *lanes) work(key string) {
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
func (l *lanes) next(key string) func(context.Context) {
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

// within runs f in one of the bounded slots; false when ctx ended before there
// was one.
func (l *lanes) within(ctx context.Context, f func()) bool {
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

// wait returns when all goroutines are gone. The lanes must have ended; nothing
// is added any more.
func (l *lanes) wait() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.active.Wait()
}

// waiting is what is on its way to the sink, by delivery. The zero value is
// ready.
type waiting struct {
	mu   sync.Mutex
	done map[string][]func(error)
}

// join adds someone who wants to know what becomes of a delivery, and reports
// whether it is new.
func (w *waiting) join(delivery string, done func(error)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done == nil {
		w.done = map[string][]func(error){}
	}
	others, known := w.done[delivery]
	if len(others) < joinMax {
		w.done[delivery] = append(others, done)
	}
	return !known
}

// joinMax bounds who waits for one delivery; further ones are not told, and
// ask again.
const joinMax = 8

func (w *waiting) finish(delivery string, err error) {
	w.mu.Lock()
	waiting := w.done[delivery]
	delete(w.done, delivery)
	w.mu.Unlock()
	for _, done := range waiting {
		done(err)
	}
}
