package openai

import "parley/agent/endpoint"

// BaseURLDefault is OpenAI's own endpoint.
const BaseURLDefault = "https://api.openai.com/v1"

// Config says which model to ask and how long to wait. Its BaseURL is the
// endpoint up to and without /chat/completions.
type Config = endpoint.Config

func provider() endpoint.Provider {
	return endpoint.Provider{Prefix: "OPENAI", BaseURL: BaseURLDefault, Path: "/chat/completions", Advice: "leave that out"}
}
