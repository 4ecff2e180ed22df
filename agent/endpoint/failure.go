package endpoint

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
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

// Unreached is an exchange with host that got no answer at all.
func Unreached(host string, err error) *agent.ModelError {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	reason := fmt.Sprintf("cannot reach %s: %v", host, err)
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return Permanent(agent.KindUnavailable, reason)
	}
	return Temporary(agent.KindUnavailable, reason)
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
