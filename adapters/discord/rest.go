package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
	"parley/internal/secret"
	"parley/internal/transport"
)

// Limits of a REST exchange.
const (
	responseMax    = 4 << 20 // bytes of an answer
	connectTimeout = 10 * time.Second
	idleMax        = 32               // connections kept for later
	restTimeout    = 30 * time.Second // the last net; callers bring deadlines
	blockedFor     = time.Minute      // after a 429 that does not say how long
	retryAfterMax  = time.Hour        // what a 429 may ask for
)

// restClient makes single REST calls through discordgo, whose own retries and
// waiting for rate limits are off: every call is one request, or none.
type restClient struct {
	base    string
	token   secret.String
	session *discordgo.Session
	http    *http.Transport
}

func newRESTClient(base string, token secret.String) *restClient {
	session := &discordgo.Session{Token: "Bot " + token.Reveal(), UserAgent: userAgent}
	return &restClient{base: base, token: token, session: session, http: transport.New(connectTimeout, idleMax)}
}

const userAgent = "DiscordBot (https://github.com/bwmarrin/discordgo, v" + discordgo.VERSION + ") parley"

// call makes one request of the given path below the base, and decodes the
// answer into out unless that is nil. An error is always an *apiError. limits
// is what Discord said of the route's rate limit, also with an error.
func (c *restClient) call(ctx context.Context, method, path string, body, out any) (limits rateLimit, err error) {
	if err := adapters.Late(ctx); err != nil {
		return limits, &apiError{unsent: true, reason: err.Error(), err: err}
	}
	var encoded []byte
	if body != nil {
		encoded, err = json.Marshal(body)
		if err != nil {
			return limits, &apiError{unsent: true, reason: "the request cannot be encoded: " + err.Error()}
		}
	}
	x := &exchange{base: c.http}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.connected.Store(true) }})
	// A limiter of its own for each call: the library's would sleep without
	// regard to ctx and remember every path.
	bucket := discordgo.NewRatelimiter().LockBucket(path)
	answer, err := c.session.RequestWithLockedBucket(method, c.base+path, "application/json", encoded, bucket, 0,
		discordgo.WithClient(&http.Client{Transport: x, Timeout: restTimeout, CheckRedirect: stay}),
		discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0), discordgo.WithContext(ctx))
	if err != nil {
		return x.limits, c.failure(x, err)
	}
	if out == nil {
		return x.limits, nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return x.limits, &apiError{status: x.status, reason: "the answer cannot be read: " + c.token.Scrub(err.Error())}
	}
	return x.limits, nil
}

// stay refuses redirects, so that the token goes to no other host.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (c *restClient) close() { c.http.CloseIdleConnections() }

// rateLimit is what an answer says of its route.
type rateLimit struct {
	exhausted bool          // the next request would be refused
	reset     time.Duration // until it is not
}

// exchange is one request and its answer on the way through the library: it
// notes what the library does not hand on, bounds the body, and gives a 429
// the form that the library can read.
type exchange struct {
	base      http.RoundTripper
	connected atomic.Bool
	status    int
	global    bool
	limits    rateLimit
}

// RoundTrip implements http.RoundTripper.
func (x *exchange) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := x.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, responseMax+1))
	response.Body.Close()
	if err == nil && len(body) > responseMax {
		err = fmt.Errorf("the answer is longer than %d bytes", responseMax)
	}
	if err != nil {
		return nil, err
	}
	x.status = response.StatusCode
	x.limits = readRateLimit(response.Header)
	if x.status == http.StatusTooManyRequests {
		body = x.tooMany(response.Header, body)
	}
	for name := range response.Header {
		if strings.HasPrefix(name, "X-Ratelimit-") {
			response.Header.Del(name)
		}
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// tooMany makes the body of a 429 well-formed. One that is not JSON comes from
// the proxy before Discord and holds for the whole address.
func (x *exchange) tooMany(header http.Header, body []byte) []byte {
	var said struct {
		RetryAfter *float64 `json:"retry_after"`
		Global     bool     `json:"global"`
		Message    string   `json:"message"`
	}
	err := json.Unmarshal(body, &said)
	x.global = said.Global || header.Get("X-RateLimit-Scope") == "global" || header.Get("X-RateLimit-Global") != "" || err != nil
	after := blockedFor.Seconds()
	if said.RetryAfter != nil && err == nil {
		after = *said.RetryAfter
	} else if seconds, err := strconv.ParseFloat(header.Get("Retry-After"), 64); err == nil {
		after = seconds
	}
	after = min(max(after, 0), retryAfterMax.Seconds())
	return fmt.Appendf(nil, `{"message":%q,"retry_after":%f}`, said.Message, after)
}

func readRateLimit(header http.Header) rateLimit {
	seconds, err := strconv.ParseFloat(header.Get("X-RateLimit-Reset-After"), 64)
	if err != nil || header.Get("X-RateLimit-Remaining") != "0" || !(seconds > 0) {
		return rateLimit{}
	}
	return rateLimit{exhausted: true, reset: time.Duration(min(seconds, retryAfterMax.Seconds()) * float64(time.Second))}
}
