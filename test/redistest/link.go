package redistest

import (
	"context"
	"net"
	"sync"
	"time"
)

// Link is a network between two servers that can be slow: what one says to
// whoever came over the link arrives late. What is on its way when an end dies
// is gone, as it is with a machine whose network dies with it. Stopping a
// process shows no such loss: its kernel goes on receiving.
type Link struct {
	target   string
	listener net.Listener
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu    sync.Mutex
	delay time.Duration
	gate  chan struct{} // closed while the link is open
}

// linkChunks is how many pieces of at most linkChunk bytes can be on their way.
const (
	linkChunks = 1 << 14
	linkChunk  = 16 << 10
)

// NewLink makes a link to a server. Close ends it.
func NewLink(target string) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{target: target, listener: listener, gate: make(chan struct{})}
	close(l.gate)
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.running.Go(l.accept)
	return l, nil
}

// Addr is where the link's target is reached over it.
func (l *Link) Addr() string { return l.listener.Addr().String() }

// Delay makes all that the target says from now on arrive so much later.
func (l *Link) Delay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
}

// Hold lets nothing of what the target says arrive until Release.
func (l *Link) Hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gate = make(chan struct{})
}

// Release ends a Hold.
func (l *Link) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.gate)
}

// Close ends the link and its connections.
func (l *Link) Close() {
	l.cancel()
	_ = l.listener.Close()
	l.running.Wait()
}

func (l *Link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.DialTimeout("tcp", l.target, time.Second)
		if err != nil {
			_ = near.Close()
			continue
		}
		l.join(near, far)
	}
}

// join connects both until one of them breaks or the link ends.
func (l *Link) join(near, far net.Conn) {
	ctx, cancel := context.WithCancel(l.ctx)
	context.AfterFunc(ctx, func() { _, _ = near.Close(), far.Close() })
	late := make(chan piece, linkChunks)
	part := func(run func()) {
		l.running.Go(func() { defer cancel(); run() })
	}
	part(func() { pass(near, far) })
	part(func() { l.hear(ctx, far, late) })
	part(func() { l.deliver(ctx, late, near) })
}

// pass is what the near end says: it arrives at once.
func pass(from, to net.Conn) {
	buf := make([]byte, linkChunk)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// piece is something on its way.
type piece struct {
	text []byte
	due  time.Time
}

func (l *Link) hear(ctx context.Context, from net.Conn, late chan<- piece) {
	for {
		buf := make([]byte, linkChunk)
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		l.mu.Lock()
		due := time.Now().Add(l.delay)
		l.mu.Unlock()
		select {
		case late <- piece{buf[:n], due}:
		case <-ctx.Done():
			return
		}
	}
}

func (l *Link) deliver(ctx context.Context, late <-chan piece, to net.Conn) {
	for {
		select {
		case p := <-late:
			if !l.arrived(ctx, p) {
				return
			}
			if _, err := to.Write(p.text); err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// arrived waits until a piece is due and the link is open; false: it never is.
func (l *Link) arrived(ctx context.Context, p piece) bool {
	timer := time.NewTimer(time.Until(p.due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	l.mu.Lock()
	gate := l.gate
	l.mu.Unlock()
	select {
	case <-gate:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
