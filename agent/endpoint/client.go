package endpoint

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"
)

// NewClient is an HTTP client that follows no redirect. A nil transport means
// one of its own that is bounded, is shared by all calls, and obeys
// HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
func NewClient(transport http.RoundTripper, connect time.Duration) *http.Client {
	if transport == nil {
		transport = newTransport(connect)
	}
	return &http.Client{Transport: transport, CheckRedirect: refuseRedirect}
}

func newTransport(connect time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connect,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    256,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// refuseRedirect hands the redirect to the caller: a POST with a key in it does
// not follow a server's word to another place.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Host names an endpoint for errors, without credentials and path.
func Host(base string) string {
	parsed, err := url.Parse(base)
	if err != nil {
		return "the endpoint"
	}
	return parsed.Host
}

// CheckKey refuses what no key looks like and no header can hold.
func CheckKey(key string) error {
	for _, r := range key {
		if r <= ' ' || r > '~' {
			return errors.New("holds white space or characters that no key has")
		}
	}
	return nil
}

// CheckBaseURL finds what is wrong with an address. The error never repeats
// it, because it may hold a password.
func CheckBaseURL(base string) error {
	parsed, err := url.Parse(base)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return errors.New("does not begin with http:// or https://")
	case parsed.Hostname() == "":
		return errors.New("names no host")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return errors.New("holds a query or fragment, which it must not")
	}
	return nil
}
