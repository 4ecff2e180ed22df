package halfopen

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A client's own times are divided by quicker, so that a test need not wait
// for them; each of its calls has callFor, and callsMax of them have to be
// enough.
const (
	quicker  = 100
	callFor  = 500 * time.Millisecond
	callsMax = 60
)

// GivenUp fails the test unless a client whose connection became half open
// soon makes a new one. own is the transport that the client really uses, made
// by its own constructor; GivenUp makes it trust the server and its times
// shorter. ask makes one call at base.
func GivenUp(t *testing.T, own *http.Transport, answer http.Handler, ask func(ctx context.Context, base string) error) {
	t.Helper()
	var protocols atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols.Store(int64(r.ProtoMajor))
		answer.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	hole := newHole(t, server.Listener.Addr().String())
	trust(own, server)
	t.Cleanup(own.CloseIdleConnections)
	call := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), callFor)
		defer cancel()
		return ask(ctx, "https://"+hole.listener.Addr().String())
	}
	for range callsMax { // a busy machine may need more than one for the handshake
		if call() == nil {
			break
		}
	}
	if protocols.Load() != 2 {
		t.Fatalf("the client speaks HTTP/%d to a server of HTTP/2", protocols.Load())
	}
	hole.swallow()
	for range callsMax {
		if call() == nil {
			return
		}
	}
	t.Errorf("%d calls over a dead connection, and no new one", callsMax)
}

func trust(own *http.Transport, server *httptest.Server) {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	own.Proxy = nil
	own.TLSClientConfig = &tls.Config{RootCAs: pool, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	if own.HTTP2 != nil {
		own.HTTP2.SendPingTimeout /= quicker
		own.HTTP2.PingTimeout /= quicker
	}
}

// hole is a TCP proxy.
type hole struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns []net.Conn
	dead  []*atomic.Bool
}

func newHole(t *testing.T, target string) *hole {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hole{listener: listener, target: target}
	var running sync.WaitGroup
	running.Go(func() { h.accept(&running) })
	t.Cleanup(func() {
		listener.Close()
		h.mu.Lock()
		for _, conn := range h.conns {
			conn.Close()
		}
		h.mu.Unlock()
		running.Wait()
	})
	return h
}

func (h *hole) accept(running *sync.WaitGroup) {
	for {
		client, err := h.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", h.target)
		if err != nil {
			client.Close()
			continue
		}
		dead := &atomic.Bool{}
		h.mu.Lock()
		h.conns = append(h.conns, client, server)
		h.dead = append(h.dead, dead)
		h.mu.Unlock()
		running.Go(func() { carry(server, client, dead) })
		running.Go(func() { carry(client, server, dead) })
	}
}

// carry copies until the connection is dead; then it takes and gives nothing.
func carry(to, from net.Conn, dead *atomic.Bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if dead.Load() && err == nil {
			continue
		}
		if err != nil {
			if !dead.Load() {
				to.Close()
			}
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			_, _ = io.Copy(io.Discard, from)
			return
		}
	}
}

// swallow makes every connection there is a hole.
func (h *hole) swallow() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, dead := range h.dead {
		dead.Store(true)
	}
}
