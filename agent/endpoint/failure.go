package endpoint

import (
	"fmt"
	"net/http"
	"strings"

	"parley/agent"
)

// Temporary is a failure that can be gone at the next attempt.
func Temporary(kind agent.ErrorKind, reason string) *agent.ModelError {
	return &agent.ModelError{Kind: kind, Temporary: true, Reason: reason}
}

// Permanent is a failure that the same request meets again.
func Permanent(kind agent.ErrorKind, reason string) *agent.ModelError {
	return &agent.ModelError{Kind: kind, Reason: reason}
}

// ByStatus is a refusal that says nothing but its HTTP status. 200 is an error
// within a stream.
func ByStatus(status int, reason string) *agent.ModelError {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return Permanent(agent.KindUnauthorized, reason)
	case http.StatusPaymentRequired:
		return Permanent(agent.KindQuota, reason)
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return Permanent(agent.KindNotFound, reason)
	case http.StatusRequestEntityTooLarge:
		return Permanent(agent.KindContextLength, reason)
	case http.StatusRequestTimeout:
		return Temporary(agent.KindTimeout, reason)
	case http.StatusTooManyRequests:
		return Temporary(agent.KindRateLimited, reason)
	case http.StatusOK, http.StatusConflict, http.StatusTooEarly:
		return Temporary(agent.KindUnavailable, reason)
	}
	if status >= http.StatusInternalServerError {
		return Temporary(agent.KindUnavailable, reason)
	}
	return Permanent(agent.KindRefused, reason)
}

// Inconclusive failures of a question about models say nothing about answers.
func Inconclusive(kind agent.ErrorKind) bool {
	return kind == agent.KindNotFound || kind == agent.KindRefused || kind == agent.KindBrokenStream
}

// Reason tells the status, code and message of a refusal, as far as there are
// any.
func Reason(status int, code, message string) string {
	where := fmt.Sprintf("the endpoint answers %d %s", status, http.StatusText(status))
	if status == http.StatusOK {
		where = "the stream ended with an error"
	}
	if code != "" {
		where += " (" + code + ")"
	}
	if message == "" {
		return where
	}
	return where + ": " + message
}

// BodyText is an error body that is not of the provider's shape.
func BodyText(body []byte) string {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") {
		return "an HTML page: " + pageTitle(text)
	}
	return text
}

func pageTitle(page string) string {
	_, after, found := strings.Cut(page, "<title>")
	title, _, ended := strings.Cut(after, "</title>")
	if !found || !ended {
		return "without a title"
	}
	return title
}
