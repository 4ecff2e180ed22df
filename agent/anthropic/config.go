package anthropic

import (
	"strings"

	"parley/agent/endpoint"
)

// BaseURLDefault is Anthropic's own endpoint.
const BaseURLDefault = "https://api.anthropic.com"

// AnswerTokensDefault is the longest answer where the request names none: the
// API requires a number, and what a model thinks before it speaks counts too.
const AnswerTokensDefault = 16_000

// Config says which model to ask and how long to wait. Its BaseURL is the
// endpoint up to and without /v1/messages.
type Config = endpoint.Config

func provider() endpoint.Provider {
	return endpoint.Provider{Prefix: "ANTHROPIC", BaseURL: BaseURLDefault, Path: "/messages", Advice: "leave that out, and the /v1 before it"}
}

// trimBaseURL takes away the /v1 that the library adds and many people write.
func trimBaseURL(base string) string {
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"), "/")
}
