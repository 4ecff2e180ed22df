package main

import (
	"bytes"
	"maps"
	"net"
	"strings"
	"sync"
	"time"
)

// proxy stands between a client and a Redis server on loopback and counts
// round trips: what a client sends after it has got an answer, on one
// connection, begins a new one.
type proxy struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu    sync.Mutex
	open  map[net.Conn]bool // nil once closed
	trips tally
}

// tally is a number of round trips by what their first command was.
type tally map[string]int

func (t tally) minus(earlier tally) tally {
	out := tally{}
	for kind, n := range t {
		out[kind] = n - earlier[kind]
	}
	return out
}

func newProxy(target string) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, target: target, open: map[net.Conn]bool{}, trips: tally{}}
	p.running.Go(p.accept)
	return p, nil
}

func (p *proxy) url() string { return "redis://" + p.listener.Addr().String() }

// close breaks every connection and returns when all goroutines are gone.
func (p *proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	for conn := range p.open {
		conn.Close()
	}
	p.open = nil
	p.mu.Unlock()
	p.running.Wait()
}

// counts are the round trips so far.
func (p *proxy) counts() tally {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.trips)
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.DialTimeout("tcp", p.target, 5*time.Second)
		if err != nil {
			client.Close()
			continue
		}
		if !p.keep(client, server) {
			return
		}
		link := &link{proxy: p}
		p.running.Go(func() { p.forward(client, server, link.sent) })
		p.running.Go(func() { p.forward(server, client, link.answered) })
	}
}

// keep registers connections to be closed; false: the proxy is closed already.
func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		if p.open == nil {
			conn.Close()
			continue
		}
		p.open[conn] = true
	}
	return p.open != nil
}

func (p *proxy) forward(from, to net.Conn, note func(piece []byte)) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			note(buffer[:n])
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// link is one connection: whose turn it is to speak.
type link struct {
	proxy   *proxy
	mu      sync.Mutex
	pending bool // the client has sent something that is not answered
}

func (l *link) sent(piece []byte) {
	l.mu.Lock()
	begins := !l.pending
	l.pending = true
	l.mu.Unlock()
	if begins {
		l.proxy.mu.Lock()
		l.proxy.trips[commandOf(piece)]++
		l.proxy.mu.Unlock()
	}
}

func (l *link) answered([]byte) {
	l.mu.Lock()
	l.pending = false
	l.mu.Unlock()
}

// commandOf names the first command of a request in the Redis protocol; of a
// function, its name as well.
func commandOf(request []byte) string {
	const fields = 6 // *3 $5 fcall $28 name, and the rest
	lines := bytes.SplitN(request, []byte("\r\n"), fields)
	if len(lines) < 3 {
		return "?"
	}
	name := strings.ToLower(string(lines[2]))
	if name == "fcall" && len(lines) == fields {
		name += " " + string(lines[4])
	}
	return name
}
