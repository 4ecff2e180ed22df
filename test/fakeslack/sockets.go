package fakeslack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/websocket"
)

// socketsMax is how many an app may have.
const socketsMax = 10

// ackMax is the length from which Slack drops an acknowledgement, in bytes.
const ackMax = 20 * 1024

// Sockets are the app's sockets.
type Sockets struct {
	server   *Server
	upgrader websocket.Upgrader
	tickets  map[string]bool // guarded by the server's lock, as all below
	open     []*connection
	next     int
	opened   int
	mute     bool   // neither hello nor pings on new sockets
	refuse   string // new sockets are closed at once with this reason
	deaf     bool   // acknowledgements are not read
	pinned   map[string]*connection
	pongs    int
}

func newSockets(s *Server) *Sockets {
	return &Sockets{
		server: s, tickets: map[string]bool{}, pinned: map[string]*connection{},
		// The client names Slack's own origin.
		upgrader: websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }},
	}
}

// connection is one socket. Its frames are written by one goroutine.
type connection struct {
	socket *websocket.Conn
	frames chan []byte
	gone   chan struct{}
}

// queueLocked hands a frame to the writer; false: the socket does not take its
// frames, and what does not fit comes again.
func (c *connection) queueLocked(frame []byte) bool {
	select {
	case c.frames <- frame:
		return true
	default:
		return false
	}
}

func (k *Sockets) ticket() string {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	ticket := k.server.nextIDLocked("ticket-")
	k.tickets[ticket] = true
	return ticket
}

// pickLocked is any one of the sockets, each in turn.
func (k *Sockets) pickLocked() *connection {
	if len(k.open) == 0 {
		return nil
	}
	k.next++
	return k.open[k.next%len(k.open)]
}

// pickForLocked is any one of the sockets; with Sticky the same as before for
// the channel, if that is still open.
func (k *Sockets) pickForLocked(channel string) *connection {
	if !k.server.options.Sticky {
		return k.pickLocked()
	}
	if c := k.pinned[channel]; c != nil && slices.Contains(k.open, c) {
		return c
	}
	c := k.pickLocked()
	k.pinned[channel] = c
	return c
}

func (k *Sockets) serve(w http.ResponseWriter, request *http.Request) {
	s := k.server
	s.mu.Lock()
	ticket := request.URL.Query().Get("ticket")
	known := k.tickets[ticket]
	delete(k.tickets, ticket)
	if !known {
		s.violateLocked("a socket is opened with a ticket that was not given or was used")
	}
	s.mu.Unlock()
	if !known {
		http.Error(w, "no ticket", http.StatusForbidden)
		return
	}
	socket, err := k.upgrader.Upgrade(w, request, nil)
	if err != nil {
		return
	}
	defer socket.Close()
	c := &connection{socket: socket, frames: make(chan []byte, 256), gone: make(chan struct{})}
	if !k.admit(c) {
		return
	}
	s.work.Go(func() { k.write(c) })
	k.read(c)
	close(c.gone)
	s.mu.Lock()
	k.open = slices.DeleteFunc(k.open, func(other *connection) bool { return other == c })
	s.notifyLocked()
	s.mu.Unlock()
}

// admit greets a new socket, or sends it away.
func (k *Sockets) admit(c *connection) bool {
	s := k.server
	s.mu.Lock()
	defer s.mu.Unlock()
	k.opened++
	s.notifyLocked()
	reason := k.refuse
	if len(k.open) >= socketsMax {
		reason = "too_many_websockets"
	}
	if reason != "" {
		hello := k.hello()
		_ = c.socket.WriteMessage(websocket.TextMessage, hello)
		_ = c.socket.WriteMessage(websocket.TextMessage, disconnect(reason))
		return false
	}
	if k.mute {
		return true
	}
	k.open = append(k.open, c)
	c.queueLocked(k.hello())
	for _, e := range s.pending {
		if e.sent.IsZero() && s.requestURL == "" {
			s.deliverLocked(e)
		}
	}
	return true
}

func (k *Sockets) hello() []byte {
	return []byte(fmt.Sprintf(`{"type":"hello","num_connections":%d,"connection_info":{"app_id":%q},`+
		`"debug_info":{"host":"applink-fake","build_number":1,"approximate_connection_time":18060}}`, len(k.open), AppID))
}

func disconnect(reason string) []byte {
	return []byte(fmt.Sprintf(`{"type":"disconnect","reason":%q,"debug_info":{"host":"applink-fake"}}`, reason))
}

func (k *Sockets) write(c *connection) {
	pings := time.NewTicker(k.server.options.Ping)
	defer pings.Stop()
	defer c.socket.Close()
	for {
		select {
		case <-c.gone:
			return
		case <-k.server.closing:
			return
		case frame := <-c.frames:
			if frame == nil || c.socket.WriteMessage(websocket.TextMessage, frame) != nil {
				return
			}
		case <-pings.C:
			k.server.mu.Lock()
			mute := k.mute
			k.server.mu.Unlock()
			if !mute && c.socket.WriteControl(websocket.PingMessage, []byte("ping"), time.Now().Add(time.Second)) != nil {
				return
			}
		}
	}
}

func (k *Sockets) read(c *connection) {
	c.socket.SetPongHandler(func(string) error {
		k.server.mu.Lock()
		defer k.server.mu.Unlock()
		k.pongs++
		k.server.notifyLocked()
		return nil
	})
	for {
		_, data, err := c.socket.ReadMessage()
		if err != nil {
			return
		}
		k.received(c, data)
	}
}

func (k *Sockets) received(c *connection, data []byte) {
	s := k.server
	s.mu.Lock()
	defer s.mu.Unlock()
	var ack struct {
		EnvelopeID string `json:"envelope_id"`
	}
	if err := json.Unmarshal(data, &ack); err != nil || ack.EnvelopeID == "" {
		s.violateLocked("a frame that is no acknowledgement: %.80s", data)
		return
	}
	if len(data) >= ackMax {
		s.violateLocked("an acknowledgement of %d bytes, which is dropped", len(data))
		return
	}
	if !k.deaf {
		s.acknowledgedLocked(ack.EnvelopeID, c)
	}
}

// Opened is how many sockets were opened so far.
func (k *Sockets) Opened() int {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	return k.opened
}

// WaitPongs waits until the app has answered n more pings.
func (k *Sockets) WaitPongs(ctx context.Context, n int) error {
	k.server.mu.Lock()
	n += k.pongs
	k.server.mu.Unlock()
	return k.server.wait(ctx, "pongs", func() bool { return k.pongs >= n })
}

// WaitOpened waits until at least n sockets were opened so far.
func (k *Sockets) WaitOpened(ctx context.Context, n int) error {
	return k.server.wait(ctx, "sockets being opened", func() bool { return k.opened >= n })
}

// Refresh tells the oldest socket that it is about to end, and ends it when
// the app does, as Slack does every few hours.
func (k *Sockets) Refresh(reason string) {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	if len(k.open) > 0 {
		k.open[0].queueLocked(disconnect(reason))
	}
}

// Drop ends all sockets without a word.
func (k *Sockets) Drop() {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	for _, c := range k.open {
		c.queueLocked(nil)
	}
}

// Mute lets new sockets open and then says nothing on them, not even a ping;
// old ones get no more pings.
func (k *Sockets) Mute(on bool) {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	k.mute = on
}

// Refuse closes new sockets at once with a reason; empty ends that.
func (k *Sockets) Refuse(reason string) {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	k.refuse = reason
}

// IgnoreAcks lets acknowledgements be lost.
func (k *Sockets) IgnoreAcks(on bool) {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	k.deaf = on
}

func (k *Sockets) closeAll() {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	for _, c := range k.open {
		_ = c.socket.Close()
	}
}
