package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	api "github.com/anthropics/anthropic-sdk-go/v2"

	"parley/agent"
	"parley/agent/endpoint"
)

// failure turns what went wrong in an exchange into the error the caller gets.
// An end of the caller's own context goes first, then our own limits.
func (m *Model) failure(ctx context.Context, x *exchange, err error) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	out := m.classify(x, err)
	if out.RetryAfter = x.RetryAfter; !out.Temporary {
		out.RetryAfter = 0
	}
	return out
}

// classify gives the failure its kind and a reason without secrets.
func (m *Model) classify(x *exchange, err error) *agent.ModelError {
	if limit := x.Fired(); limit != nil {
		return endpoint.Temporary(agent.KindTimeout, endpoint.Host(m.config.BaseURL)+": "+limit.Error())
	}
	var out *agent.ModelError
	if said, ok := errors.AsType[*api.Error](err); ok {
		out = refusalOf(said).classify()
		out.Reason = m.scrub.Clean(out.Reason) + remedy(out.Kind)
		return out
	}
	out = m.ownFailure(x, err)
	out.Reason = m.scrub.Clean(out.Reason)
	return out
}

// remedy says what an operator can do about a kind of refusal.
func remedy(kind agent.ErrorKind) string {
	switch kind {
	case agent.KindUnauthorized:
		return "; check the API key (ANTHROPIC_API_KEY)"
	case agent.KindNotFound:
		return "; check the model name (ANTHROPIC_MODEL) and the base URL (ANTHROPIC_BASE_URL)"
	case agent.KindQuota:
		return "; check the account's credit"
	default:
		return ""
	}
}

// ownFailure is for what the server did not put into words.
func (m *Model) ownFailure(x *exchange, err error) *agent.ModelError {
	switch {
	case errors.Is(err, endpoint.ErrTooLong):
		return endpoint.Permanent(agent.KindTooLong, "the answer is longer than this program takes in")
	case errors.Is(err, endpoint.ErrRedirect):
		return endpoint.Permanent(agent.KindNotFound, "the endpoint redirects elsewhere: set the base URL to the final address")
	case x.Status == 0:
		return endpoint.Unreached(endpoint.Host(m.config.BaseURL), err)
	}
	return x.brokenStream(err)
}

// brokenStream is a good beginning without an end.
func (x *exchange) brokenStream(err error) *agent.ModelError {
	if x.events == nil {
		return endpoint.Permanent(agent.KindNotFound, fmt.Sprintf("the endpoint answers with %q, which is not what was asked for: is the base URL right?", x.ContentType))
	}
	if junk := x.events.lines.Junk(); junk != "" {
		return endpoint.Permanent(agent.KindNotFound, fmt.Sprintf(
			"the endpoint answers with %q instead of an event stream: is the base URL right? It begins: %s", x.ContentType, junk))
	}
	reason := "the stream ended before the answer did"
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		reason = "the stream holds an event that is not JSON"
	} else if err != nil {
		reason += ": " + err.Error()
	}
	return endpoint.Temporary(agent.KindBrokenStream, reason)
}

// refusal is an error in the API's own words.
type refusal struct {
	status  int // 200 where it came within a stream
	kind    string
	message string
}

func refusalOf(err *api.Error) refusal {
	out := refusal{status: err.StatusCode, kind: string(err.Type()), message: err.Message}
	if out.message == "" && out.kind == "" {
		out.message = endpoint.BodyText([]byte(err.RawJSON()))
	}
	return out
}

// classify goes by the kind that the API names; an error without one is a
// proxy's or another server's, and goes by its status.
func (r refusal) classify() *agent.ModelError {
	reason := r.reason()
	switch api.ErrorType(r.kind) {
	case api.ErrorTypeInvalidRequestError:
		return r.invalid(reason)
	case api.ErrorTypeAuthenticationError, api.ErrorTypePermissionError:
		return endpoint.Permanent(agent.KindUnauthorized, reason)
	case api.ErrorTypeBillingError:
		return endpoint.Permanent(agent.KindQuota, reason)
	case api.ErrorTypeNotFoundError:
		return endpoint.Permanent(agent.KindNotFound, reason)
	case api.ErrorTypeRateLimitError:
		return endpoint.Temporary(agent.KindRateLimited, reason)
	case api.ErrorTypeTimeoutError:
		return endpoint.Temporary(agent.KindTimeout, reason)
	case api.ErrorTypeOverloadedError, api.ErrorTypeAPIError:
		return endpoint.Temporary(agent.KindUnavailable, reason)
	}
	return r.byStatus(reason)
}

// invalid tells apart what the API all calls an invalid request.
func (r refusal) invalid(reason string) *agent.ModelError {
	said := strings.ToLower(r.message)
	for _, rule := range []struct {
		kind  agent.ErrorKind
		words []string
	}{
		{agent.KindContextLength, []string{"prompt is too long", "input is too long", "exceed context limit", "context window"}},
		{agent.KindQuota, []string{"credit balance", "usage limits"}},
		{agent.KindFiltered, []string{"content filtering policy"}},
	} {
		for _, word := range rule.words {
			if strings.Contains(said, word) {
				return endpoint.Permanent(rule.kind, reason)
			}
		}
	}
	return endpoint.Permanent(agent.KindRefused, reason)
}

func (r refusal) byStatus(reason string) *agent.ModelError {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return endpoint.Permanent(agent.KindUnauthorized, reason)
	case http.StatusPaymentRequired:
		return endpoint.Permanent(agent.KindQuota, reason)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return endpoint.Permanent(agent.KindNotFound, reason)
	case http.StatusRequestEntityTooLarge:
		return endpoint.Permanent(agent.KindContextLength, reason)
	case http.StatusRequestTimeout:
		return endpoint.Temporary(agent.KindTimeout, reason)
	case http.StatusTooManyRequests:
		return endpoint.Temporary(agent.KindRateLimited, reason)
	case http.StatusOK, http.StatusConflict, http.StatusTooEarly:
		return endpoint.Temporary(agent.KindUnavailable, reason)
	}
	if r.status >= http.StatusInternalServerError {
		return endpoint.Temporary(agent.KindUnavailable, reason)
	}
	return endpoint.Permanent(agent.KindRefused, reason)
}

// reason tells status, kind and message, as far as there are any.
func (r refusal) reason() string {
	where := fmt.Sprintf("the endpoint answers %d %s", r.status, http.StatusText(r.status))
	if r.status == http.StatusOK {
		where = "the stream ended with an error"
	}
	if r.kind != "" {
		where += " (" + r.kind + ")"
	}
	if r.message == "" {
		return where
	}
	return where + ": " + r.message
}
