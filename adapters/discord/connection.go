package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"parley/internal/pause"
)

// heartbeatMin bounds how often we beat, whatever Discord asks for.
const heartbeatMin = 20 * time.Millisecond

// connection is one websocket, from the upgrade to its end. One goroutine
// reads; heartbeats have one of their own, which ends with run.
type connection struct {
	ws     *websocket.Conn
	times  timing
	seq    func() int64 // the number a heartbeat tells
	handle func(received) *ending
	opener func() (sending, error) // what follows hello

	acked    atomic.Bool
	writing  sync.Mutex
	endOnce  sync.Once
	reason   error // why we ended it; set before the socket is closed
	watchdog *time.Timer
}

// run speaks the protocol until the connection ends, and says how it did. When
// ctx ends it closes so that the session can be resumed.
func (c *connection) run(ctx context.Context) ending {
	defer c.ws.Close()
	defer context.AfterFunc(ctx, func() { c.end(ctx.Err()) })()
	c.ws.SetReadLimit(frameMax)
	// The default handler would answer a close in kind, also with 1000 or 1001.
	c.ws.SetCloseHandler(func(int, string) error { return nil })
	interval, err := c.hello()
	if err != nil {
		return c.over(err)
	}
	beat, stop := context.WithCancel(ctx)
	var beating sync.WaitGroup
	beating.Go(func() { c.heartbeats(beat, interval) })
	defer beating.Wait()
	defer stop()
	c.watchdog = time.AfterFunc(c.times.ready, func() { c.end(errNotReady) })
	defer c.watchdog.Stop()
	first, err := c.opener()
	if err == nil {
		err = c.send(first)
	}
	if err != nil {
		return c.over(err)
	}
	return c.read(interval)
}

// confirmed stops the clock for Discord's first answer.
func (c *connection) confirmed() { c.watchdog.Stop() }

// read hands frames on until one of them, or an error, is the end.
func (c *connection) read(interval time.Duration) ending {
	for {
		// An acknowledgement comes every interval; the zombie check is earlier.
		frame, err := c.next(2*interval + c.times.hello)
		if err != nil {
			return c.over(err)
		}
		switch frame.Op {
		case opHeartbeatACK:
			c.acked.Store(true)
		case opHeartbeat:
			if err := c.beat(); err != nil {
				return c.over(err)
			}
		default:
			if over := c.handle(frame); over != nil {
				c.end(over.reason)
				return *over
			}
		}
	}
}

var errFrame = errors.New("a frame from Discord is not of the protocol")

func (c *connection) next(within time.Duration) (received, error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(within)); err != nil {
		return received{}, err
	}
	_, data, err := c.ws.ReadMessage()
	if err != nil {
		return received{}, err
	}
	var frame received
	if err := json.Unmarshal(data, &frame); err != nil {
		return received{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	return frame, nil
}

func (c *connection) hello() (time.Duration, error) {
	frame, err := c.next(c.times.hello)
	if err != nil {
		return 0, err
	}
	var hello helloData
	if frame.Op != opHello || json.Unmarshal(frame.Data, &hello) != nil || hello.Interval <= 0 {
		return 0, fmt.Errorf("%w: operation %d instead of hello", errFrame, frame.Op)
	}
	return max(time.Duration(hello.Interval)*time.Millisecond, heartbeatMin), nil
}

// heartbeats beats every interval, the first time after a random part of it,
// and ends a connection on which a beat is not acknowledged in time.
func (c *connection) heartbeats(ctx context.Context, interval time.Duration) {
	answer := min(c.times.ack, interval)
	for wait := rand.N(interval); pause.For(ctx, wait); wait = interval - answer {
		c.acked.Store(false)
		if err := c.beat(); err != nil {
			c.end(err)
			return
		}
		if !pause.For(ctx, answer) {
			return
		}
		if !c.acked.Load() {
			c.end(errZombie)
			return
		}
	}
}

func (c *connection) beat() error {
	var position any
	if seq := c.seq(); seq > 0 {
		position = seq
	}
	return c.send(sending{opHeartbeat, position})
}

func (c *connection) send(frame sending) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.ws.SetWriteDeadline(time.Now().Add(c.times.write)); err != nil {
		return err
	}
	return c.ws.WriteJSON(frame)
}

// end closes the connection so that the session survives it, and reports
// whether it was the first to do so. Safe from any goroutine; it returns when
// the connection is closed.
func (c *connection) end(reason error) (first bool) {
	c.endOnce.Do(func() {
		first, c.reason = true, reason
		deadline := time.Now().Add(time.Second)
		// If the connection is gone already, the session is resumable as well.
		_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(closeResumable, ""), deadline)
		c.ws.Close()
	})
	return first
}

// over is the ending that an error of the socket means: if we had ended the
// connection before, ours.
func (c *connection) over(err error) ending {
	if c.end(err) {
		return endingOf(err)
	}
	return ending{next: nextResume, reason: c.reason}
}
