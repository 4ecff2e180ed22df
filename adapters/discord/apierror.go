package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
)

// apiError is why a REST call failed, without any secret.
type apiError struct {
	status     int    // 0: there was no answer
	code       int    // Discord's own, 0 where it gave none
	json       bool   // Discord itself answered, not a proxy before it
	unsent     bool   // the request certainly did not reach Discord
	body       string // of a refusal, bounded; only for looking into
	reason     string
	retryAfter time.Duration // status 429
	global     bool
	err        error // context errors only
}

func (e *apiError) Error() string { return e.reason }

func (e *apiError) Unwrap() error { return e.err }

// refused reports whether Discord does not accept the token.
func (e *apiError) refused() bool {
	return e.status == http.StatusUnauthorized && e.code != discordgo.ErrCodeInvalidWebhookTokenProvided
}

// gone reports whether what was asked for is not there or not for us.
func (e *apiError) gone() bool {
	return e.json && (e.status == http.StatusNotFound || e.status == http.StatusForbidden)
}

const bodyMax = 2000 // bytes of a refusal that are kept

// failure turns the library's error, which holds the request with its token,
// into one that can be logged.
func (c *restClient) failure(x *exchange, err error) *apiError {
	if limited, ok := errors.AsType[*discordgo.RateLimitError](err); ok {
		after := limited.RetryAfter
		return &apiError{
			status: http.StatusTooManyRequests, json: true, retryAfter: after, global: x.global,
			reason: fmt.Sprintf("HTTP 429: Discord asks to wait %s", after),
		}
	}
	if rest, ok := errors.AsType[*discordgo.RESTError](err); ok {
		return c.refusal(rest)
	}
	if x.status != 0 {
		return &apiError{status: x.status, reason: fmt.Sprintf("HTTP %d from Discord", x.status)}
	}
	return c.transportFailure(x, err)
}

func (c *restClient) refusal(rest *discordgo.RESTError) *apiError {
	out := &apiError{status: rest.Response.StatusCode, body: clip(c.token.Scrub(string(rest.ResponseBody)), bodyMax)}
	out.reason = fmt.Sprintf("HTTP %d", out.status)
	if rest.Message != nil {
		out.json, out.code = true, rest.Message.Code
		out.reason += fmt.Sprintf(" (%d): %s", out.code, clip(c.token.Scrub(rest.Message.Message), 200))
	}
	return out
}

// transportFailure keeps of an error only what names no address: addresses of
// interactions contain their token.
func (c *restClient) transportFailure(x *exchange, err error) *apiError {
	out := &apiError{unsent: !x.connected.Load()}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	for _, known := range []error{context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, known) {
			out.err = known
		}
	}
	out.reason = c.token.Scrub(err.Error())
	return out
}

// clip bounds text to limit bytes, at a rune's edge.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// codeCannotReplyWithoutHistory is an answer that discordgo has no name for.
const codeCannotReplyWithoutHistory = 160002

// aboutReference reports whether the message was refused for the message it
// refers to.
func (e *apiError) aboutReference() bool {
	return e.status == http.StatusBadRequest && strings.Contains(e.body, "message_reference") ||
		e.code == codeCannotReplyWithoutHistory
}

// sendError classifies the failure of a message.
func (e *apiError) sendError() *adapters.SendError {
	out := &adapters.SendError{Kind: e.kind(), Reason: e.reason, Err: e.err}
	if out.Kind == adapters.SendRateLimited {
		out.RetryAfter, out.Global = e.retryAfter, e.global
	}
	return out
}

func (e *apiError) kind() adapters.SendKind {
	switch {
	case e.unsent:
		return adapters.SendUnavailable
	case e.status == http.StatusTooManyRequests:
		return adapters.SendRateLimited
	case e.refused():
		return adapters.SendDenied
	case e.status >= 500 || e.status < 400 || e.status == http.StatusRequestTimeout:
		return adapters.SendUnknown
	case e.temporary():
		return adapters.SendUnavailable
	case e.status == http.StatusForbidden, e.status == http.StatusNotFound:
		return adapters.SendGone
	}
	return adapters.SendRefused
}

// temporary reports refusals that pass by themselves: a proxy's block of our
// address, and what Discord switches off for a while.
func (e *apiError) temporary() bool {
	switch e.code {
	case discordgo.ErrCodeThisActionCannotBePerformedDueToSlowmodeRateLimit, discordgo.ErrCodeChannelHasHitWriteRateLimit,
		discordgo.ErrCodeTheWriteActionYouArePerformingOnTheServerHasHitTheWriteRateLimit,
		discordgo.ErrCodeSendMessagesHasBeenTemporarilyDisabled, discordgo.ErrCodeFeatureTemporarilyDisabledServerSide:
		return true
	}
	return e.status == http.StatusForbidden && !e.json
}
