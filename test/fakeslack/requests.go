package fakeslack

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// DeliverTo lets everything from now on be delivered by signed requests to an
// address; empty goes back to sockets.
func (s *Server) DeliverTo(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requestURL = address
}

// Sign gives the headers of a request that Slack would send at a time.
func (s *Server) Sign(body []byte, at time.Time) http.Header {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.options.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", timestamp, body)
	return http.Header{
		"X-Slack-Request-Timestamp": {timestamp},
		"X-Slack-Signature":         {"v0=" + hex.EncodeToString(mac.Sum(nil))},
	}
}

// Post sends a signed body once and gives the answer's status and body.
func (s *Server) Post(ctx context.Context, address, contentType string, body []byte, extra http.Header) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header = s.Sign(body, time.Now())
	request.Header.Set("Content-Type", contentType)
	maps.Copy(request.Header, extra)
	response, err := s.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, bodyMax))
	return response.StatusCode, string(text), err
}

// Verify asks an address to echo a challenge, as Slack does when it is set.
func (s *Server) Verify(ctx context.Context, address string) error {
	const challenge = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"
	body := []byte(`{"token":"t","type":"url_verification","challenge":"` + challenge + `"}`)
	status, text, err := s.Post(ctx, address, "application/json", body, nil)
	if err == nil && (status != http.StatusOK || text != challenge) {
		err = fmt.Errorf("the challenge was answered with %d %q", status, text)
	}
	return err
}

// request delivers an envelope's payload by request, with Slack's retries.
func (s *Server) request(address string, e *envelope) {
	contentType, body := encodeRequest(e)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.work.Go(func() {
		select {
		case <-s.closing:
			cancel()
		case <-ctx.Done():
		}
	})
	extra := http.Header{}
	for attempt := 0; ; attempt++ {
		s.mu.Lock()
		e.attempt = attempt + 1
		s.mu.Unlock()
		status, _, err := s.Post(ctx, address, contentType, body, extra)
		if err == nil && status >= 200 && status < 300 {
			s.mu.Lock()
			s.acknowledgedLocked(e.id, nil)
			s.mu.Unlock()
			return
		}
		if attempt >= len(s.options.Retries) || e.kind != "events_api" {
			return
		}
		reason := "http_error"
		if err != nil {
			reason = "http_timeout"
		}
		extra = http.Header{"X-Slack-Retry-Num": {strconv.Itoa(attempt + 1)}, "X-Slack-Retry-Reason": {reason}}
		timer := time.NewTimer(s.options.Retries[attempt])
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func encodeRequest(e *envelope) (contentType string, body []byte) {
	encoded, _ := json.Marshal(e.payload)
	switch e.kind {
	case "slash_commands":
		form := url.Values{}
		if fields, ok := e.payload.(map[string]any); ok {
			for key, value := range fields {
				form.Set(key, fmt.Sprint(value))
			}
		}
		return "application/x-www-form-urlencoded", []byte(form.Encode())
	case "interactive":
		return "application/x-www-form-urlencoded", []byte(url.Values{"payload": {string(encoded)}}.Encode())
	}
	return "application/json", encoded
}
