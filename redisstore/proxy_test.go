package redisstore

import (
	"bufio"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between the store and its server and counts, at the connection,
// how many times something was sent and answered: a pipeline is one.
type proxy struct {
	listener net.Listener
	target   string
	rounds   atomic.Int64 // bursts of requests that were followed by an answer
	dropping atomic.Int64 // answers still to be dropped, with their connection
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: target}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.cut()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) url() string { return "redis://" + p.listener.Addr().String() }

// cut breaks all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func (p *proxy) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, conns...)
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		p.keep(client, server)
		asked := &atomic.Bool{}
		p.wg.Go(func() { p.requests(client, server, asked) })
		p.wg.Go(func() { p.answers(server, client, asked) })
	}
}

func (p *proxy) requests(from, to net.Conn, asked *atomic.Bool) {
	defer to.Close()
	buf := make([]byte, 1<<16)
	scripts := bufio.NewWriter(to)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if strings.Contains(string(buf[:n]), "fcall") {
			asked.Store(true)
		}
		if _, err := scripts.Write(buf[:n]); err != nil || scripts.Flush() != nil {
			return
		}
	}
}

func (p *proxy) answers(from, to net.Conn, asked *atomic.Bool) {
	defer to.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if asked.Swap(false) {
			p.rounds.Add(1)
			if p.dropping.Load() > 0 && p.dropping.Add(-1) >= 0 {
				return
			}
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
