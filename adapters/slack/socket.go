package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	slackapi "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
	"golang.org/x/time/rate"

	"parley/adapters"
	"parley/internal/pause"
)

const (
	envelopeMax = 4 << 20  // bytes of one envelope
	writeBuffer = 32 << 10 // bytes; a frame that does not fit is split, and then lost on Slack's side
)

// Why a connection was given up.
var (
	errNoHello = errors.New("the socket was opened and Slack said nothing on it")
	errEnded   = errors.New("the socket ended")
)

// shortMax is how many sockets in a row may be closed at once before the app
// counts as deaf.
const shortMax = 3

// socket is one of the app's sockets, by number. It is confined to the
// goroutine of its keep.
type socket struct {
	*run
	number  int
	client  *http.Client
	opened  time.Time // the current connection; zero while there is none
	hello   bool      // on the current connection
	short   int       // connections in a row that did not live long
	hearing bool
}

func (r *run) newSocket(number int) *socket {
	client := *r.http
	client.Transport = &paced{next: r.http.Transport, limit: rate.NewLimiter(rate.Every(r.times.opens), r.times.burst)}
	return &socket{run: r, number: number, client: &client}
}

// keep holds a socket open until ctx ends. The library reconnects by itself
// when a socket ends; when one cannot be opened it is started anew, because
// its own pauses grow to five minutes and some refusals are retried for ever.
func (s *socket) keep(ctx context.Context) {
	for try := 1; ctx.Err() == nil; try++ {
		s.set(adapters.Connecting, "")
		began := time.Now()
		err := s.connect(ctx)
		if ctx.Err() != nil {
			return
		}
		if problem := remedy(refusal(err), true); problem != "" {
			s.refuse(&refusedError{problem: problem})
			return
		}
		if time.Since(began) >= s.times.settled+s.times.hello {
			try = 1
		}
		err = s.config.clean(err)
		s.set(adapters.Deaf, "no connection to Slack: "+err.Error())
		s.logger.Warn("slack: socket failed, trying again", "socket", s.number, "after", since(began), "error", err)
		pause.For(ctx, max(s.times.retry.After(try), waitFor(err)))
	}
}

func (s *socket) set(state adapters.ConnectionState, problem string) {
	s.hearing = state == adapters.Hearing
	s.health.set(s.number, state, problem)
}

// connect runs the library's client until it fails for good, cannot open a
// socket, or is deaf. What it has read is handled in any case.
func (s *socket) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	api := slackapi.New(s.config.BotToken.Reveal(), slackapi.OptionAppLevelToken(s.config.AppToken.Reveal()),
		slackapi.OptionAPIURL(s.base), slackapi.OptionHTTPClient(s.client), slackapi.OptionLog(mute{}))
	client := socketmode.New(api, socketmode.OptionDialer(s.dialer()), socketmode.OptionReadLimit(envelopeMax),
		socketmode.OptionPingInterval(s.times.silence), socketmode.OptionLog(mute{}))
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(ctx) }()
	watch := time.NewTicker(s.times.hello / 4)
	defer watch.Stop()
	for {
		select {
		case event := <-client.Events:
			if err := s.handle(client, event); err != nil { //nolint:contextcheck // an acknowledgement lives as long as the run
				cancel(err)
			}
		case <-watch.C:
			if err := s.check(); err != nil {
				cancel(err)
			}
		case err := <-ended:
			s.drain(client) //nolint:contextcheck // as above
			return cmp.Or(context.Cause(ctx), err, errEnded)
		}
	}
}

func (s *socket) drain(client *socketmode.Client) {
	for {
		select {
		case event := <-client.Events:
			_ = s.handle(client, event) // the connection has ended anyway
		default:
			return
		}
	}
}

func (s *socket) dialer() *websocket.Dialer {
	return &websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, HandshakeTimeout: s.times.call, WriteBufferSize: writeBuffer,
	}
}

// check is the watchdog: the library notices missing pings, and this a socket
// on which Slack never greets.
func (s *socket) check() error {
	if s.opened.IsZero() {
		return nil
	}
	lived := time.Since(s.opened)
	if !s.hello && lived > s.times.hello {
		return errNoHello
	}
	if s.hello && !s.hearing && lived > s.times.settled {
		s.short = 0
		s.set(adapters.Hearing, "")
	}
	return nil
}

// handle takes one event of the library. An error ends the connection.
func (s *socket) handle(client *socketmode.Client, event socketmode.Event) error {
	switch event.Type {
	case socketmode.EventTypeConnecting:
		s.closed()
	case socketmode.EventTypeConnected:
		s.opened, s.hello = time.Now(), false
	case socketmode.EventTypeHello:
		s.greeted()
	case socketmode.EventTypeConnectionError:
		if failure, ok := event.Data.(*slackapi.ConnectionErrorEvent); ok {
			return failure.ErrorObj
		}
	case socketmode.EventTypeEventsAPI, socketmode.EventTypeSlashCommand, socketmode.EventTypeInteractive:
		s.envelope(client, *event.Request)
	case socketmode.EventTypeErrorBadMessage:
		s.badMessage(client, event)
	case socketmode.EventTypeIncomingError, socketmode.EventTypeErrorWriteFailed:
		s.logger.Debug("slack: socket trouble", "socket", s.number, "kind", string(event.Type))
	case socketmode.EventTypeInvalidAuth, socketmode.EventTypeDisconnect:
		// What follows says it.
	default:
		s.logger.Info("slack: socket event not used", "kind", string(event.Type))
	}
	return nil
}

// closed notes that the connection, if there was one, has ended.
func (s *socket) closed() {
	if s.opened.IsZero() {
		return
	}
	lived := time.Since(s.opened)
	s.opened = time.Time{}
	s.doubt() // the app-level token opens sockets also when the bot token was revoked
	if lived >= s.times.settled {
		s.short = 0
		s.set(adapters.Connecting, "")
		return
	}
	s.short++
	if s.short >= shortMax {
		s.set(adapters.Deaf, "Slack closes the socket as soon as it is open: see that Socket Mode is on, and that no more than ten programs use the app")
		return
	}
	s.set(adapters.Connecting, "")
}

// greeted notes that Slack hears. After several short connections it takes
// one that lasts to believe it.
func (s *socket) greeted() {
	s.hello = true
	s.logger.Info("slack: socket open", "socket", s.number)
	if s.short < shortMax {
		s.set(adapters.Hearing, "")
	}
}

// badMessage is what the library could not decode. This package reads fewer
// fields and may understand it; what it does not understand is logged with its
// kind and acknowledged, or Slack would send it again and again.
func (s *socket) badMessage(client *socketmode.Client, event socketmode.Event) {
	bad, ok := event.Data.(*socketmode.ErrorBadMessage)
	if !ok {
		return
	}
	var request socketmode.Request
	err := json.Unmarshal(bad.Message, &request)
	if request.EnvelopeID == "" {
		s.logger.Warn("slack: frame without an envelope", "kind", request.Type, "bytes", len(bad.Message))
		return
	}
	if err != nil {
		s.logger.Warn("slack: envelope cannot be read", "kind", request.Type, "error", err)
		s.acknowledge(client, request.EnvelopeID)
		return
	}
	s.envelope(client, request)
}

func (s *socket) envelope(client *socketmode.Client, request socketmode.Request) {
	if request.RetryAttempt > 0 {
		s.logger.Debug("slack: delivered again", "attempt", request.RetryAttempt, "reason", request.RetryReason)
	}
	s.hello = true
	s.take(incoming{kind: request.Type, payload: request.Payload}, func(err error) {
		if err != nil {
			s.logger.Warn("slack: event not taken, Slack will deliver it again", "error", err)
			return
		}
		s.acknowledge(client, request.EnvelopeID)
	})
}

// acknowledge hands the acknowledgement to the library. Where it does not
// reach Slack, the event comes again and is a duplicate.
func (s *socket) acknowledge(client *socketmode.Client, envelope string) {
	ctx, cancel := context.WithTimeout(s.ctx, s.times.ack)
	defer cancel()
	if err := client.AckCtx(ctx, envelope, nil); err != nil {
		s.logger.Debug("slack: event not acknowledged, Slack will deliver it again", "error", err)
	}
}

// paced slows down how fast sockets are opened: one that is closed at once
// would be opened again at once, thousands of times a second.
type paced struct {
	next  http.RoundTripper
	limit *rate.Limiter
}

// RoundTrip implements [http.RoundTripper].
func (p *paced) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.URL.Path, "/apps.connections.open") {
		if err := p.limit.Wait(request.Context()); err != nil {
			if request.Body != nil {
				request.Body.Close()
			}
			return nil, err
		}
	}
	return p.next.RoundTrip(request)
}

// mute is a logger of the library's that drops everything: its lines can hold
// what people wrote.
type mute struct{}

// Output drops a line.
func (mute) Output(int, string) error { return nil }
