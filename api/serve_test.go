package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/sessions"
)

// served is a server on a socket of its own, with short deadlines.
func served(t *testing.T, limits api.Limits) (h *harness, address string) {
	t.Helper()
	h = start(t, apitest.Echo, func(c *api.Config) { c.Limits = limits })
	h.api.Mount("POST /hook", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		http.Error(w, fmt.Sprint(err), http.StatusUnauthorized)
	}))
	listener := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- h.api.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return h, listener.Addr().String()
}

func dial(t *testing.T, address, text string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn
}

// hungUp waits until the other side has closed a connection.
func hungUp(conn net.Conn) error {
	_, err := io.Copy(io.Discard, conn)
	if timeout, is := errors.AsType[net.Error](err); is && timeout.Timeout() {
		return errors.New("it is still open")
	}
	return nil
}

// Whoever announces a body and never sends it loses the connection, whatever
// the address, and whether or not its handler reads the body.
func TestAHeldConnectionIsClosed(t *testing.T) {
	t.Parallel()
	_, address := served(t, api.Limits{Body: 50 * time.Millisecond, Head: 50 * time.Millisecond})
	const long = "Content-Length: 100000\r\n\r\n{"
	for name, text := range map[string]string{
		"half a head":            "GET / HTTP/1.1\r\nHost: x\r\n",
		"nothing":                "",
		"a handler of its own":   "POST /hook HTTP/1.1\r\nHost: x\r\n" + long,
		"health reads no body":   "GET /healthz HTTP/1.1\r\nHost: x\r\n" + long,
		"refused before reading": "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + long,
		"the form":               "POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 900\r\n\r\nt",
		"no such address":        "POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n1",
		"a message":              "POST /v1/sessions/api:x/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\n" + long,
		"an import":              "POST /v1/sessions/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/jsonl\r\n" + long,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := hungUp(dial(t, address, text)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A body that arrived does not end what is answered after it: a wait for a
// reply outlives the deadline of the body.
func TestTheBodysDeadlineEndsNoWait(t *testing.T) {
	t.Parallel()
	h, address := served(t, api.Limits{Body: 20 * time.Millisecond})
	h.gateway.Model = func(context.Context, string, func(string)) (string, error) {
		// Whoever came later has lost the connection: the deadline has passed.
		return "late", hungUp(dial(t, address, "POST /hook HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"))
	}
	h.url = "http://" + address
	if said := h.say("api:x", "hello"); len(said.Entries) != 1 || said.Entries[0].Type != sessions.EntryMessage {
		t.Errorf("%+v", said)
	}
}

// One address has at most half of the connections. One that would be too many
// takes the place of the oldest that has shown no token; whoever has shown one
// keeps theirs.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	_, address := served(t, api.Limits{Connections: 8, Head: patience, Body: patience})
	const announced = "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n"
	reading := func(text string) net.Conn {
		t.Helper()
		conn := dial(t, address, text+announced)
		if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "100") {
			t.Fatalf("%q, %v", line, err)
		}
		return conn
	}
	owner := func() net.Conn {
		t.Helper()
		return reading("POST /v1/sessions/api:x/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + token + "\r\n")
	}
	kept := owner()
	var strangers []net.Conn
	for range 7 {
		strangers = append(strangers, reading("POST /hook HTTP/1.1\r\nHost: x\r\n"))
	}
	for i, conn := range strangers[:4] {
		if err := hungUp(conn); err != nil {
			t.Errorf("stranger %d: %v", i, err)
		}
	}
	for range 3 {
		owner()
	}
	if err := hungUp(dial(t, address, "")); err != nil {
		t.Errorf("a connection more than one address may have: %v", err)
	}
	if _, err := io.WriteString(kept, `{"text":1}`); err != nil {
		t.Error(err)
	}
	if response, err := http.ReadResponse(bufio.NewReader(kept), nil); err != nil || response.StatusCode != http.StatusBadRequest {
		t.Errorf("the first owner's request: %v, %v", response, err)
	}
}

// However many addresses there are, all of them together have a bound.
func TestConnectionsOfManyAddressesAreBounded(t *testing.T) {
	t.Parallel()
	_, address := served(t, api.Limits{Connections: 6, Head: patience, Body: patience})
	var open []net.Conn
	for i := range 8 {
		from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(1+i/2))}}
		conn, err := from.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Skipf("this system has one loopback address: %v", err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "POST /hook HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "100") {
			t.Fatalf("connection %d: %q, %v", i, line, err)
		}
		open = append(open, conn)
	}
	for i, conn := range open[:2] {
		if err := hungUp(conn); err != nil {
			t.Errorf("connection %d of 8 where 6 may be: %v", i, err)
		}
	}
}

// A channel's token has a share of the event streams; the owner's stay open.
func TestOneTokenCannotTakeAllStreams(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	const program = "Bearer " + bridgeToken
	for i := range api.StreamsPerToken + 1 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/v1/sessions/telegram:c/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", program)
		if i == 0 {
			made := h.do("POST", "/v1/sessions", `{"id":"telegram:c"}`)
			if made.status != http.StatusCreated {
				t.Fatalf("%d %s", made.status, made.body)
			}
		}
		response, err := h.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		if want := map[bool]int{true: 200, false: 503}[i < api.StreamsPerToken]; response.StatusCode != want {
			t.Fatalf("stream %d: %d, want %d", i, response.StatusCode, want)
		}
	}
	events, stop := h.events("/v1/sessions/web:x/events")
	defer stop()
	until(t, events, "status")
	if got := h.do("GET", "/v1/sessions/telegram:c", ""); got.status != 200 || strings.Contains(got.body, "streams") {
		t.Errorf("%d %s", got.status, got.body)
	}
}
