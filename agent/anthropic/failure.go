package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	api "github.com/anthropics/anthropic-sdk-go/v2"

	"parley/agent"
	"parley/agent/endpoint"
)

// failure turns what went wrong in an exchange into the error the caller gets.
func (m *Model) failure(ctx context.Context, x *exchange, err error) error {
	var said *agent.ModelError
	if fromServer, ok := errors.AsType[*api.Error](err); ok {
		said = refusalOf(fromServer).classify()
	}
	return m.judge.Failure(ctx, x.Exchange, err, said, x.brokenStream)
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
	reason := endpoint.Reason(r.status, r.kind, r.message)
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
	return endpoint.ByStatus(r.status, reason)
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
