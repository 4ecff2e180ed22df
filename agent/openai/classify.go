package openai

import (
	"net/http"
	"strings"

	"parley/agent"
	"parley/agent/endpoint"
)

// wordRule recognises a failure by the words providers use for it, whatever
// the status: the same failure comes as 400 here, 413 there and 200 with an
// error event elsewhere.
type wordRule struct {
	kind  agent.ErrorKind
	words []string
}

func wordRules() []wordRule {
	return []wordRule{
		{agent.KindContextLength, []string{
			"context_length_exceeded", "exceed_context_size", "maximum context length", "context length",
			"context window", "context size", "prompt is too long", "input is too long",
		}},
		{agent.KindFiltered, []string{"content_filter", "content_policy_violation", "content management policy", "flagged"}},
		{agent.KindQuota, []string{"insufficient_quota", "billing_hard_limit", "insufficient credits", "billing_not_active"}},
		{agent.KindUnauthorized, []string{"invalid_api_key", "incorrect api key", "api key not valid"}},
		{agent.KindNotFound, []string{"model_not_found"}},
	}
}

func (r *refusal) classify() *agent.ModelError {
	reason := endpoint.Reason(r.status, r.code, r.message)
	if r.status < http.StatusInternalServerError {
		if kind, found := r.byWords(); found {
			return endpoint.Permanent(kind, reason)
		}
	}
	if r.status == http.StatusOK {
		return r.classifyEvent(reason)
	}
	return endpoint.ByStatus(r.status, reason)
}

// classifyEvent is for an error within a stream that brings no status.
func (r *refusal) classifyEvent(reason string) *agent.ModelError {
	switch {
	case strings.Contains(r.code+r.kind, "rate_limit"):
		return endpoint.Temporary(agent.KindRateLimited, reason)
	case r.kind == "invalid_request_error":
		return endpoint.Permanent(agent.KindRefused, reason)
	}
	return endpoint.Temporary(agent.KindUnavailable, reason)
}

func (r *refusal) byWords() (agent.ErrorKind, bool) {
	said := strings.ToLower(r.code + " " + r.kind + " " + r.message)
	for _, rule := range wordRules() {
		for _, word := range rule.words {
			if strings.Contains(said, word) {
				return rule.kind, true
			}
		}
	}
	return "", false
}
