package endpoint

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	connection "parley/internal/transport"
)

// idleMax is how many connections to one endpoint are kept for later.
const idleMax = 256

// NewClient is an HTTP client that follows no redirect. A nil transport means
// one of its own that is bounded, is shared by all calls, and obeys
// HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
func NewClient(transport http.RoundTripper, connect time.Duration) *http.Client {
	if transport == nil {
		transport = connection.New(connect, idleMax)
	}
	return &http.Client{Transport: transport, CheckRedirect: refuseRedirect}
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

// checkKey refuses what no key looks like and no header can hold.
func checkKey(key string) error {
	for _, r := range key {
		if r <= ' ' || r > '~' {
			return errors.New("holds white space or characters that no key has")
		}
	}
	return nil
}

// checkBaseURL finds what is wrong with an address. The error never repeats
// it, because it may hold a password.
func checkBaseURL(base string) error {
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
