package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	api "github.com/sashabaranov/go-openai"

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
	if fromServer := serverError(x.Status, err); fromServer != nil {
		out := fromServer.classify()
		out.Reason = m.scrub.Clean(out.Reason) + remedy(out.Kind)
		return out
	}
	out := m.ownFailure(x, err)
	out.Reason = m.scrub.Clean(out.Reason)
	return out
}

// ownFailure is for what the server did not put into words.
func (m *Model) ownFailure(x *exchange, err error) *agent.ModelError {
	switch {
	case errors.Is(err, endpoint.ErrTooLong):
		return endpoint.Permanent(agent.KindTooLong, "the answer is longer than this program takes in")
	case errors.Is(err, endpoint.ErrRedirect):
		return endpoint.Permanent(agent.KindNotFound, "the endpoint redirects elsewhere: set the base URL to the final address")
	case x.Status == 0:
		return m.transportFailure(err)
	}
	return x.brokenStream(err)
}

// remedy says what an operator can do about a kind of refusal.
func remedy(kind agent.ErrorKind) string {
	switch kind {
	case agent.KindUnauthorized:
		return "; check the API key (OPENAI_API_KEY)"
	case agent.KindNotFound:
		return "; check the model name (OPENAI_MODEL) and the base URL (OPENAI_BASE_URL)"
	case agent.KindQuota:
		return "; check the account's credit"
	default:
		return ""
	}
}

// transportFailure is an exchange that got no answer at all.
func (m *Model) transportFailure(err error) *agent.ModelError {
	if isLibraryRefusal(err) {
		return endpoint.Permanent(agent.KindRefused, err.Error())
	}
	return endpoint.Unreached(endpoint.Host(m.config.BaseURL), err)
}

// isLibraryRefusal reports the library's own checks, made before it sends.
func isLibraryRefusal(err error) bool {
	for _, refusal := range []error{
		api.ErrChatCompletionInvalidModel, api.ErrReasoningModelMaxTokensDeprecated,
		api.ErrReasoningModelLimitationsLogprobs, api.ErrReasoningModelLimitationsOther,
		api.ErrReasoningEffortUnsupported, api.ErrReasoningToolsRequireResponses,
		api.ErrReasoningSamplingUnsupported, api.ErrContentFieldsMisused,
	} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// brokenStream is a good beginning without an end. err is nil where the body
// just ended.
func (x *exchange) brokenStream(err error) *agent.ModelError {
	if x.events != nil && x.events.count == 0 && x.events.lines.Junk() != "" {
		return endpoint.Permanent(agent.KindNotFound, fmt.Sprintf(
			"the endpoint answers with %q instead of an event stream: is the base URL right? It begins: %s",
			x.ContentType, x.events.lines.Junk()))
	}
	reason := "the stream ended before the answer did"
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		reason = "the stream holds an event that is not JSON"
	} else if err != nil {
		reason += ": " + err.Error()
	}
	return endpoint.Temporary(agent.KindBrokenStream, reason)
}

// refusal is an error in the provider's own words.
type refusal struct {
	status  int // 200 where it came within a stream
	code    string
	kind    string
	message string
}

// serverError finds the provider's words in err; nil if it holds none.
func serverError(status int, err error) *refusal {
	if event, ok := errors.AsType[*eventError](err); ok {
		return &refusal{status: statusOf(event.code, status), code: event.code, kind: event.kind, message: event.message}
	}
	if apiErr, ok := errors.AsType[*api.APIError](err); ok {
		return &refusal{status: status, code: codeText(apiErr.Code), kind: apiErr.Type, message: apiErr.Message}
	}
	if requestErr, ok := errors.AsType[*api.RequestError](err); ok {
		return &refusal{status: status, message: endpoint.BodyText(requestErr.Body)}
	}
	if status >= http.StatusBadRequest {
		return &refusal{status: status, message: err.Error()}
	}
	return nil
}

// statusOf takes a code that is an HTTP status, as some providers send it
// within a stream, for one.
func statusOf(code string, status int) int {
	if number, err := strconv.Atoi(code); err == nil && number >= http.StatusBadRequest && number < 600 {
		return number
	}
	return status
}

func codeText(code any) string {
	if code == nil {
		return ""
	}
	return fmt.Sprint(code)
}
