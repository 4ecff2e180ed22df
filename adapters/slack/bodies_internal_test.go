package slack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// stall sends a head of the right form and nothing of the body it announces,
// and comes back when the handler waits for that body.
func stall(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /slack/events HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n%s: %d\r\n%s: v0=%s\r\n\r\n",
		headerTimestamp, time.Now().Unix(), headerSignature, strings.Repeat("0", 64))
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("%q, %v", line, err)
	}
	return conn
}

func hungUp(conn net.Conn) error {
	_, err := io.Copy(io.Discard, conn)
	if timeout, is := errors.AsType[net.Error](err); is && timeout.Timeout() {
		return errors.New("it is still open")
	}
	return nil
}

// deliver is a signed request over a real connection.
func deliver(t *testing.T, url string) int {
	t.Helper()
	body := event(tsA)
	request := signed("application/json", body, time.Now(), signingSecret)
	sent, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	sent.Header = request.Header
	response, err := http.DefaultClient.Do(sent)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// Unsigned bodies that do not arrive hold neither memory nor Slack's place:
// one more than there may be ends the oldest, and the event is taken.
func TestStalledBodiesDoNotShutSlackOut(t *testing.T) {
	t.Parallel()
	h := newHooked(t)
	h.times.body = patience
	server := httptest.NewServer(h.Webhook())
	t.Cleanup(server.Close)
	var held []net.Conn
	for range bodiesMax + 5 {
		held = append(held, stall(t, server.Listener.Addr().String()))
	}
	for i, conn := range held[:5] {
		if err := hungUp(conn); err != nil {
			t.Errorf("body %s: %v", strconv.Itoa(i), err)
		}
	}
	if status := deliver(t, server.URL); status != http.StatusOK {
		t.Errorf("a signed event meanwhile: %d", status)
	}
	for _, conn := range held {
		conn.Close()
	}
}

func TestABodyHasLittleTimeToArrive(t *testing.T) {
	t.Parallel()
	if got := defaultTiming().body; got > 5*time.Second {
		t.Errorf("%v", got)
	}
	h := newHooked(t)
	h.times.body = 20 * time.Millisecond
	server := httptest.NewServer(h.Webhook())
	t.Cleanup(server.Close)
	if err := hungUp(stall(t, server.Listener.Addr().String())); err != nil {
		t.Error(err)
	}
}
