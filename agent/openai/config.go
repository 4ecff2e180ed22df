package openai

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"parley/agent/endpoint"
	"parley/internal/secret"
)

// BaseURLDefault is OpenAI's own endpoint.
const BaseURLDefault = "https://api.openai.com/v1"

// Config says which model to ask and how long to wait.
type Config struct {
	// BaseURL is the endpoint up to and without /chat/completions; empty:
	// BaseURLDefault. It may hold a user and password for a proxy in front of
	// a server without keys; they are never printed.
	BaseURL string
	APIKey  secret.String // not set: no Authorization header
	Model   string        // as the endpoint names it; required

	endpoint.Limits

	// Transport replaces the package's own HTTP transport, and with it
	// Connect. Nil: one that is shared by all calls of this model, is bounded,
	// and obeys HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
	Transport http.RoundTripper
}

// validate fills the defaults in and returns all problems at once. It never
// repeats the base URL, which may hold a password.
func (c *Config) validate() error {
	var problems []error
	if c.Model = strings.TrimSpace(c.Model); c.Model == "" {
		problems = append(problems, errors.New("the model has no name (OPENAI_MODEL)"))
	}
	if err := endpoint.CheckKey(c.APIKey.Reveal()); err != nil {
		problems = append(problems, fmt.Errorf("the API key (OPENAI_API_KEY) %w", err))
	}
	if c.BaseURL = strings.TrimRight(c.BaseURL, "/"); c.BaseURL == "" {
		c.BaseURL = BaseURLDefault
	}
	if err := checkBaseURL(c.BaseURL); err != nil {
		problems = append(problems, fmt.Errorf("the base URL (OPENAI_BASE_URL) %w", err))
	}
	limits, err := c.WithDefaults()
	if c.Limits = limits; err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func checkBaseURL(base string) error {
	if err := endpoint.CheckBaseURL(base); err != nil {
		return err
	}
	if strings.HasSuffix(strings.TrimRight(base, "/"), "/chat/completions") {
		return errors.New("ends with /chat/completions; leave that out")
	}
	return nil
}
