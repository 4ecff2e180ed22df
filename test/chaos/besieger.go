package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// How a besieger goes on.
const (
	siegeEvery    = 100 * time.Millisecond // between two tries of one kind
	siegeCall     = 30 * time.Second
	siegeSessions = 5 // answers in one conversation
)

// besieger attacks one gateway from many addresses of this machine, wherever
// it listens by now. Each method is one attack, until ctx ends.
type besieger struct {
	folder, name string
	tried        *attempts
	many         int // connections of one attack that are open at a time
	source       atomic.Uint32
}

// place is where the gateway listens, and its token.
func (b *besieger) place() (address, token string) {
	var file struct{ Address, Token string }
	content, err := os.ReadFile(filepath.Join(b.folder, placeFile))
	if err != nil || json.Unmarshal(content, &file) != nil {
		return "", ""
	}
	return strings.TrimPrefix(file.Address, "http://"), file.Token
}

func (b *besieger) dial(ctx context.Context, address string) (net.Conn, error) {
	n := b.source.Add(1)
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+n%200))}
	return (&net.Dialer{LocalAddr: from, Timeout: time.Second}).DialContext(ctx, "tcp", address)
}

// keeps opens connection after connection, sends a request and leaves it, and
// closes the oldest when there are many.
func (b *besieger) keeps(ctx context.Context, kind *atomic.Int64, request func(token string) string) {
	var open []net.Conn
	for pause(ctx, siegeEvery) == nil {
		address, token := b.place()
		conn, err := b.dial(ctx, address)
		if err != nil {
			continue
		}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		_, _ = io.WriteString(conn, request(token)) // it may be refused by then
		b.tried.add(kind)
		if open = append(open, conn); len(open) > b.many {
			open[0].Close()
			open = open[1:]
		}
	}
	for _, conn := range open {
		conn.Close()
	}
}

func (b *besieger) stalls(ctx context.Context) {
	b.keeps(ctx, &b.tried.stalled, func(string) string {
		return "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n{"
	})
}

// posts sends almost all of a megabyte to the webhook, unsigned.
func (b *besieger) posts(ctx context.Context) {
	body := strings.Repeat("x", 1<<20-2)
	b.keeps(ctx, &b.tried.hooks, func(string) string {
		return fmt.Sprintf("POST /slack/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\nX-Slack-Request-Timestamp: %d\r\nX-Slack-Signature: v0=%s\r\n\r\n%s",
			len(body)+1, time.Now().Unix(), strings.Repeat("0", 64), body)
	})
}

func (b *besieger) watches(ctx context.Context) {
	b.keeps(ctx, &b.tried.streams, func(token string) string {
		return "GET /v1/sessions/api:siege/events?render=html HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	})
}

func (b *besieger) guesses(ctx context.Context) {
	b.keeps(ctx, &b.tried.guesses, func(string) string {
		return "GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer a-guess\r\nConnection: close\r\n\r\n"
	})
}

// looks has the model give answers that are costly to show, and looks at them.
func (b *besieger) looks(ctx context.Context) {
	client := &http.Client{Timeout: siegeCall, Transport: &http.Transport{DisableKeepAlives: true}}
	for i := 0; pause(ctx, siegeEvery) == nil; i++ {
		session := fmt.Sprintf("/v1/sessions/api:siege-%s-%d", b.name, i/siegeSessions)
		b.asks(ctx, client, http.MethodPost, session+"/messages?wait=20s&render=html", fmt.Sprintf(`{"text":"%s%d"}`, siegeWord, i))
		b.asks(ctx, client, http.MethodGet, session+"/entries?render=html", "")
		b.tried.add(&b.tried.bombs)
	}
}

func (b *besieger) asks(ctx context.Context, client *http.Client, method, path, body string) {
	address, token := b.place()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, strings.NewReader(body))
	if err != nil {
		return
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	if response, err := client.Do(request); err == nil {
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
}
