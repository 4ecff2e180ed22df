//go:build external

package browser

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// proxy stands between the browser and the gateway, and can be cut.
type proxy struct {
	url      string
	listener net.Listener
	done     sync.WaitGroup

	mu     sync.Mutex
	target string // empty: cut
	deaf   bool   // what comes back is thrown away
	open   map[net.Conn]struct{}
}

func newProxy(t *testing.T, targetURL string) *proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{url: "http://" + listener.Addr().String(), listener: listener, open: map[net.Conn]struct{}{}}
	p.restore(targetURL)
	p.done.Go(p.accept)
	t.Cleanup(func() {
		listener.Close()
		p.cut()
		p.done.Wait()
	})
	return p
}

// cut breaks every connection, and every new one, until restore.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = ""
	for conn := range p.open {
		conn.Close()
	}
}

// deafen lets requests through and loses their answers, until restore.
func (p *proxy) deafen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = true
}

// Write loses what it is given while the proxy is deaf.
func (a answers) Write(piece []byte) (int, error) {
	a.proxy.mu.Lock()
	deaf := a.proxy.deaf
	a.proxy.mu.Unlock()
	if deaf {
		return len(piece), nil
	}
	return a.to.Write(piece)
}

// answers are what goes back to the browser.
type answers struct {
	proxy *proxy
	to    io.Writer
}

// restore lets connections through again, to a server's URL.
func (p *proxy) restore(targetURL string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target, p.deaf = strings.TrimPrefix(targetURL, "http://"), false
}

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.done.Go(func() { p.pass(conn) })
	}
}

func (p *proxy) pass(conn net.Conn) {
	defer conn.Close()
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	if target == "" {
		return
	}
	other, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer other.Close()
	p.track(conn, other, true)
	defer p.track(conn, other, false)
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(other, conn); other.Close() })
	both.Go(func() { _, _ = io.Copy(answers{p, conn}, other); conn.Close() })
	both.Wait()
}

func (p *proxy) track(a, b net.Conn, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range []net.Conn{a, b} {
		if open {
			p.open[conn] = struct{}{}
		} else {
			delete(p.open, conn)
		}
	}
	if open && p.target == "" { // cut in the meantime
		a.Close()
		b.Close()
	}
}
