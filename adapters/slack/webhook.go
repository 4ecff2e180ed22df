package slack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// challengeMax bounds what is echoed to prove that the address is ours.
const challengeMax = 512

// Webhook is the handler for events, slash commands and interactivity, all
// three at one path, such as /slack/events; nil without a signing secret. It
// answers 401 to what Slack did not sign, 200 once the sink has taken an event
// or there is none to take, and 503 where Slack has to deliver it again: while
// Run is not running, too. A request that is replayed is delivered again and
// is a duplicate for the sink, so it is answered with 200.
func (a *Adapter) Webhook() http.Handler {
	if a.config.SigningSecret.IsZero() {
		return nil
	}
	return http.HandlerFunc(a.serveWebhook)
}

func (a *Adapter) serveWebhook(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	body, err := a.verifiedBody(w, request)
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		http.Error(w, "too long", http.StatusRequestEntityTooLarge)
		return
	}
	if errors.Is(err, errBodyCut) {
		w.Header().Set("Connection", "close")
		http.Error(w, "the body did not arrive", http.StatusRequestTimeout)
		return
	}
	if err != nil {
		a.logger.Debug("slack: request refused", "error", err)
		http.Error(w, "not signed", http.StatusUnauthorized)
		return
	}
	in, challenge, err := readRequest(request.Header.Get("Content-Type"), body)
	switch {
	case err != nil:
		a.logger.Warn("slack: request cannot be read", "bytes", len(body), "error", err)
		w.WriteHeader(http.StatusOK) // it would be the same the next time
	case challenge != "":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, challenge)
	case in.kind == "":
		w.WriteHeader(http.StatusOK) // Slack trying the connection
	default:
		a.answer(w, request, in)
	}
}

func (a *Adapter) verifiedBody(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	seal, err := readSeal(request.Header, a.now())
	if err != nil {
		return nil, err
	}
	body, err := a.bodies.read(w, request, a.times.body)
	if err != nil {
		return nil, err
	}
	return body, seal.verify(strings.TrimSpace(a.config.SigningSecret.Reveal()), body)
}

// answer hands a delivery on and waits for the sink, but not beyond Slack's
// patience: what is taken later, is taken when Slack asks again.
func (a *Adapter) answer(w http.ResponseWriter, request *http.Request, in incoming) {
	r := a.active.Load()
	if r == nil {
		http.Error(w, "not running", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(request.Context(), r.times.answer)
	defer cancel()
	taken := make(chan error, 1)
	r.take(in, func(err error) { taken <- err })
	err := errBusy
	select {
	case err = <-taken:
	case <-ctx.Done():
	case <-r.ctx.Done():
	}
	if err != nil {
		a.logger.Warn("slack: event not taken, Slack will deliver it again", "error", err, "retry", request.Header.Get("X-Slack-Retry-Num") != "")
		http.Error(w, "not taken", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// readRequest tells what a signed body is. A challenge, or a kind that is
// empty, needs no delivery. Pure.
func readRequest(contentType string, body []byte) (in incoming, challenge string, err error) {
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), "application/x-www-form-urlencoded") {
		in, err = readForm(body)
		return in, "", err
	}
	var outer struct {
		Type      string `json:"type"`
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(body, &outer); err != nil {
		return incoming{}, "", err
	}
	if outer.Type != "url_verification" {
		return incoming{kind: kindEvents, payload: body}, "", nil
	}
	if outer.Challenge == "" || len(outer.Challenge) > challengeMax {
		return incoming{}, "", errMalformed
	}
	return incoming{}, outer.Challenge, nil
}

// readForm reads a slash command, or the payload of an interaction.
func readForm(body []byte) (incoming, error) {
	form, err := url.ParseQuery(string(body))
	switch {
	case err != nil:
		return incoming{}, err
	case form.Get("payload") != "":
		return incoming{kind: kindInteractive, payload: json.RawMessage(form.Get("payload"))}, nil
	case form.Get("command") != "":
		return commandForm(form)
	case form.Get("ssl_check") != "":
		return incoming{}, nil
	}
	return incoming{}, errMalformed
}
