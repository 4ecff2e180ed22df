package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"parley/test/fakeopenai"
)

// bodyMax bounds a request's body, in bytes.
const bodyMax = 8 << 20

// door stands between the gateways and the fakes, so that each request is
// known by the life it came from: /{life}/{target}/….
type door struct {
	ledger   *ledger
	listener net.Listener
	server   *http.Server
	done     sync.WaitGroup
	targets  map[string]target

	mu sync.Mutex
	// crowded is a platform that answers that it is too busy.
	crowded *platform
	// poisoned is told of a life whose model call holds poison, and ends it.
	poisoned func(life string)
}

type target struct {
	proxy    *httputil.ReverseProxy
	platform *platform // nil: the model
}

const (
	modelTarget = "model"
	poison      = "poison"
	hanging     = "hang"
)

func openDoor(l *ledger, model string, platforms []*platform) (*door, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &door{ledger: l, listener: listener, targets: map[string]target{}}
	transport := &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute, DisableCompression: true}
	if err := d.add(modelTarget, model, nil, transport); err != nil {
		return nil, err
	}
	for _, p := range platforms {
		if err := d.add(p.name, p.backend, p, transport); err != nil {
			return nil, err
		}
	}
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: time.Minute}
	d.server.RegisterOnShutdown(transport.CloseIdleConnections)
	d.done.Go(func() { _ = d.server.Serve(listener) })
	return d, nil
}

func (d *door) add(name, backend string, p *platform, transport http.RoundTripper) error {
	base, err := url.Parse(backend)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(base) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	d.targets[name] = target{proxy: proxy, platform: p}
	return nil
}

// via is the URL that leads a life to a target.
func (d *door) via(life, name string) string {
	return "http://" + d.listener.Addr().String() + "/" + life + "/" + name
}

func (d *door) close() {
	_ = d.server.Close()
	d.done.Wait()
}

// ServeHTTP implements http.Handler.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.SplitN(r.URL.Path, "/", 4)
	if len(parts) < 4 {
		http.NotFound(w, r)
		return
	}
	life, rest := parts[1], "/"+parts[3]
	to, known := d.targets[parts[2]]
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
	if !known || err != nil {
		http.Error(w, "no such target, or no body", http.StatusBadGateway)
		return
	}
	r.Body, r.URL.Path, r.URL.RawPath = io.NopCloser(bytes.NewReader(body)), rest, ""
	if to.platform == nil {
		d.model(w, r, life, to, body)
		return
	}
	surface, text, sends := to.platform.sends(r, body)
	if !sends {
		to.proxy.ServeHTTP(w, r)
		return
	}
	d.send(w, r, to, d.ledger.sending(life, surface, text))
}

// send passes a message on, and notes what became of it.
func (d *door) send(w http.ResponseWriter, r *http.Request, to target, t *try) {
	seen := &observed{ResponseWriter: w}
	defer func() { d.ledger.sent(t, seen.status, seen.status != 0 && r.Context().Err() == nil) }()
	if d.isCrowded(to.platform) {
		to.platform.busy(seen)
		return
	}
	to.proxy.ServeHTTP(seen, r)
}

func (d *door) isCrowded(p *platform) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.crowded == p
}

func (d *door) crowd(p *platform) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crowded = p
}

func (d *door) onPoison(f func(life string)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.poisoned = f
}

// model passes a model call on, and notes what it is to answer.
func (d *door) model(w http.ResponseWriter, r *http.Request, life string, to target, body []byte) {
	var request fakeopenai.Request
	if json.Unmarshal(body, &request) == nil {
		text := present(request)
		if numbers := numbersIn(text); len(numbers) > 0 {
			d.ledger.asked(life, numbers)
		}
		d.mu.Lock()
		poisoned := d.poisoned
		d.mu.Unlock()
		if poisoned != nil && strings.Contains(text, poison) {
			poisoned(life)
			<-r.Context().Done() // the answer never comes
			return
		}
	}
	to.proxy.ServeHTTP(w, r)
}

// present is what people said since the last answer.
func present(request fakeopenai.Request) string {
	var texts []string
	for _, m := range request.Messages {
		switch m.Role {
		case "user":
			texts = append(texts, m.Text())
		case "assistant":
			texts = nil
		}
	}
	return strings.Join(texts, "\n")
}

// observed keeps the status of an answer.
type observed struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (o *observed) WriteHeader(status int) {
	if o.status == 0 {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }
