package endpoint

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errorBodyMax bounds what is read of a failed answer, in bytes.
const errorBodyMax = 64 << 10

// ErrRedirect is for an endpoint that sends the caller elsewhere.
var ErrRedirect = errors.New("redirect")

// Exchange is one HTTP request and its answer. It stands between a provider's
// library and the HTTP client, bounds what the library reads, and keeps what
// the library does not hand on.
type Exchange struct {
	*Watchdog

	Status      int           // 0: no answer came
	RetryAfter  time.Duration // 0: not said
	ContentType string

	client *http.Client
	stream func(io.ReadCloser) io.ReadCloser
	body   io.Closer // of the answer; nil before it
}

// NewExchange begins an exchange and gives the context it runs under. A stream
// wraps the body of a good answer; nil: the answer is no stream. The caller
// must Close the exchange.
func NewExchange(ctx context.Context, client *http.Client, limits Limits, stream func(io.ReadCloser) io.ReadCloser) (*Exchange, context.Context) {
	watch := NewWatchdog(ctx, limits)
	return &Exchange{Watchdog: watch, client: client, stream: stream}, watch.ctx
}

// Do sends the request for the library.
func (x *Exchange) Do(request *http.Request) (*http.Response, error) {
	response, err := x.client.Do(request)
	if err != nil {
		return nil, err
	}
	x.body = response.Body
	x.Status = response.StatusCode
	x.ContentType = response.Header.Get("Content-Type")
	x.RetryAfter = RetryAfter(response.Header, time.Now())
	switch {
	case x.Status >= http.StatusBadRequest:
		response.Body = limited(response.Body, errorBodyMax)
	case x.Status >= http.StatusMultipleChoices:
		return nil, ErrRedirect
	case x.stream != nil:
		response.Body = x.stream(response.Body)
	default:
		response.Body = limited(response.Body, ResponseMax)
	}
	return response, nil
}

// Close ends the exchange. Libraries leave the body of a failed one open.
func (x *Exchange) Close() {
	if x.body != nil {
		x.body.Close()
	}
	x.Stop()
}

type limitedBody struct {
	io.Reader
	io.Closer
}

func limited(body io.ReadCloser, limit int64) io.ReadCloser {
	return limitedBody{io.LimitReader(body, limit), body}
}
