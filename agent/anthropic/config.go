package anthropic

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"parley/agent/endpoint"
	"parley/internal/secret"
)

// BaseURLDefault is Anthropic's own endpoint.
const BaseURLDefault = "https://api.anthropic.com"

// AnswerTokensDefault is the longest answer where the request names none: the
// API requires a number, and what a model thinks before it speaks counts too.
const AnswerTokensDefault = 16_000

// Config says which model to ask and how long to wait.
type Config struct {
	// BaseURL is the endpoint up to and without /v1/messages; empty:
	// BaseURLDefault. It may hold a user and password for a proxy; they are
	// never printed.
	BaseURL string
	APIKey  secret.String // not set: no Authorization header
	Model   string        // as the endpoint names it; required

	endpoint.Limits

	// Transport replaces the package's own HTTP transport, and with it
	// Connect. Nil: see [endpoint.NewClient].
	Transport http.RoundTripper
}

// validate fills the defaults in and returns all problems at once. It never
// repeats the base URL, which may hold a password.
func (c *Config) validate() error {
	var problems []error
	if c.Model = strings.TrimSpace(c.Model); c.Model == "" {
		problems = append(problems, errors.New("the model has no name (ANTHROPIC_MODEL)"))
	}
	if err := endpoint.CheckKey(c.APIKey.Reveal()); err != nil {
		problems = append(problems, fmt.Errorf("the API key (ANTHROPIC_API_KEY) %w", err))
	}
	if c.BaseURL = trimBaseURL(c.BaseURL); c.BaseURL == "" {
		c.BaseURL = BaseURLDefault
	}
	if err := checkBaseURL(c.BaseURL); err != nil {
		problems = append(problems, fmt.Errorf("the base URL (ANTHROPIC_BASE_URL) %w", err))
	}
	limits, err := c.WithDefaults()
	if c.Limits = limits; err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// trimBaseURL takes away the /v1 that the library adds and many people write.
func trimBaseURL(base string) string {
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"), "/")
}

func checkBaseURL(base string) error {
	if err := endpoint.CheckBaseURL(base); err != nil {
		return err
	}
	if strings.HasSuffix(base, "/messages") {
		return errors.New("ends with /messages; leave that out, and the /v1 before it")
	}
	return nil
}
