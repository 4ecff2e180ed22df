package api

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// connections bounds how many connections are open, in all and by one address,
// which has at most half: behind a proxy everybody has the proxy's. A new one
// that would be too many takes the place of the oldest stranger: a connection
// whose request has not shown a token or a cookie, or that waits for its next
// request. Where there is none, the new one is closed.
type connections struct {
	max, each int

	mu        sync.Mutex
	open      map[net.Conn]*connection
	from      map[string]int
	strangers *list.List // of net.Conn, the oldest first
}

type connection struct {
	remote   string
	stranger *list.Element // nil: the request's caller is known
}

type connectionKey struct{}

func newConnections(most int) *connections {
	return &connections{max: most, each: max(1, most/2), open: map[net.Conn]*connection{}, from: map[string]int{}, strangers: list.New()}
}

// changed is the hook of http.Server.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch known := c.open[conn]; {
	case state == http.StateNew:
		c.add(conn)
	case known == nil: // it was closed to make room
	case state == http.StateActive:
	case state == http.StateIdle:
		c.forget(known)
		known.stranger = c.strangers.PushBack(conn)
	default:
		c.remove(conn)
	}
}

// within lets keep find a request's connection.
func (c *connections) within(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// keep says that the caller of a request is known: its connection makes room
// for nobody until the request is answered.
func (c *connections) keep(r *http.Request) {
	conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.open[conn]; known != nil {
		c.forget(known)
	}
}

func (c *connections) add(conn net.Conn) {
	remote := remoteKey(conn.RemoteAddr().String())
	if !c.room(remote) {
		_ = conn.Close()
		return
	}
	c.from[remote]++
	c.open[conn] = &connection{remote: remote, stranger: c.strangers.PushBack(conn)}
}

// room makes room for one more of an address, if it can.
func (c *connections) room(remote string) bool {
	switch {
	case c.from[remote] >= c.each:
		return c.closeStranger(remote)
	case len(c.open) >= c.max:
		return c.closeStranger("")
	}
	return true
}

// closeStranger closes the oldest stranger, of one address or of all; false:
// there is none.
func (c *connections) closeStranger(remote string) bool {
	for at := c.strangers.Front(); at != nil; at = at.Next() {
		conn, _ := at.Value.(net.Conn)
		if remote == "" || c.open[conn].remote == remote {
			_ = conn.Close()
			c.remove(conn)
			return true
		}
	}
	return false
}

func (c *connections) forget(known *connection) {
	if known.stranger != nil {
		c.strangers.Remove(known.stranger)
		known.stranger = nil
	}
}

func (c *connections) remove(conn net.Conn) {
	known := c.open[conn]
	c.forget(known)
	delete(c.open, conn)
	if c.from[known.remote]--; c.from[known.remote] == 0 {
		delete(c.from, known.remote)
	}
}
