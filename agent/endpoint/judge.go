package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"

	"parley/agent"
)

// Judge turns what went wrong in exchanges with one endpoint into the errors
// that callers get. Their reasons hold no secret.
type Judge struct {
	provider Provider
	host     string
	scrub    Scrubber
}

// NewJudge is a judge for the endpoint of a complete config.
func NewJudge(p Provider, config Config) Judge {
	return Judge{provider: p, host: Host(config.BaseURL), scrub: NewScrubber(config.APIKey, config.BaseURL)}
}

// Failure is the error for an exchange that failed with err, which is nil where
// the body just ended. An end of the caller's own context goes first, then our
// own limits, then said: what the server or the library put into words, nil if
// neither did. broken judges a good beginning without an end.
func (j Judge) Failure(ctx context.Context, x *Exchange, err error, said *agent.ModelError, broken func(error) *agent.ModelError) error {
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	out := j.classify(x, err, said, broken)
	if out.RetryAfter = x.RetryAfter; !out.Temporary {
		out.RetryAfter = 0
	}
	return out
}

func (j Judge) classify(x *Exchange, err error, said *agent.ModelError, broken func(error) *agent.ModelError) *agent.ModelError {
	if limit := x.Fired(); limit != nil {
		return Temporary(agent.KindTimeout, j.host+": "+limit.Error())
	}
	if said != nil {
		said.Reason = j.scrub.Clean(said.Reason) + j.provider.remedy(said.Kind)
		return said
	}
	out := j.unspoken(x, err, broken)
	out.Reason = j.scrub.Clean(out.Reason)
	return out
}

// unspoken is for what the server did not put into words.
func (j Judge) unspoken(x *Exchange, err error, broken func(error) *agent.ModelError) *agent.ModelError {
	switch {
	case errors.Is(err, ErrTooLong):
		return Permanent(agent.KindTooLong, "the answer is longer than this program takes in")
	case errors.Is(err, ErrRedirect):
		return Permanent(agent.KindNotFound, "the endpoint redirects elsewhere: set the base URL to the final address")
	case x.Status == 0:
		return unreached(j.host, err)
	}
	return broken(err)
}

// remedy says what an operator can do about a kind of refusal.
func (p Provider) remedy(kind agent.ErrorKind) string {
	switch kind {
	case agent.KindUnauthorized:
		return fmt.Sprintf("; check the API key (%s_API_KEY)", p.Prefix)
	case agent.KindNotFound:
		return fmt.Sprintf("; check the model name (%[1]s_MODEL) and the base URL (%[1]s_BASE_URL)", p.Prefix)
	case agent.KindQuota:
		return "; check the account's credit"
	default:
		return ""
	}
}

// unreached is an exchange with host that got no answer at all.
func unreached(host string, err error) *agent.ModelError {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	reason := fmt.Sprintf("cannot reach %s: %v", host, err)
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return Permanent(agent.KindUnavailable, reason)
	}
	return Temporary(agent.KindUnavailable, reason)
}
