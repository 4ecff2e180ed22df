package transport

import (
	"net"
	"net/http"
	"time"
)

// An HTTP/2 connection on which nothing was heard for PingAfter is pinged, and
// closed when no answer comes within PingFor. Without that a dead connection is
// used again and again until the kernel gives it up, which takes many minutes.
const (
	PingAfter = 15 * time.Second
	PingFor   = 10 * time.Second
)

const (
	keepAlive = 15 * time.Second // between TCP's own probes of an idle connection
	idleFor   = 90 * time.Second
	headMax   = 64 << 10 // bytes of an answer's head
)

// New is a transport that keeps at most idle connections open for later, and
// takes at most connect for a TCP or TLS handshake.
func New(connect time.Duration, idle int) *http.Transport {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: keepAlive}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connect,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: PingAfter, PingTimeout: PingFor},
		MaxIdleConns:           idle,
		MaxIdleConnsPerHost:    idle,
		IdleConnTimeout:        idleFor,
		MaxResponseHeaderBytes: headMax,
	}
}
