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
func (m *Model) failure(ctx context.Context, x *exchange, err error) error {
	var said *agent.ModelError
	if fromServer := serverError(x.Status, err); fromServer != nil {
		said = fromServer.classify()
	} else if isLibraryRefusal(err) {
		said = endpoint.Permanent(agent.KindRefused, err.Error())
	}
	return m.judge.Failure(ctx, x.Exchange, err, said, x.brokenStream)
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
