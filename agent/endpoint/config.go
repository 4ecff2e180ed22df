package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"parley/internal/secret"
)

// Config says which model of which endpoint to ask and how long to wait.
type Config struct {
	// BaseURL is the endpoint up to and without Provider.Path; empty:
	// Provider.BaseURL. It may hold a user and password for a proxy in front
	// of a server without keys; they are never printed.
	BaseURL string
	APIKey  secret.String // not set: no Authorization header
	Model   string        // as the endpoint names it; required

	Limits

	// Transport replaces the package's own HTTP transport, and with it
	// Connect. Nil: see [NewClient].
	Transport http.RoundTripper
}

// Provider is what errors and defaults must know of a provider.
type Provider struct {
	Prefix  string // of the names of its variables
	BaseURL string // of its own endpoint
	Path    string // is added to a base URL, which must not end with it
	Advice  string // to those whose base URL does
}

// Complete fills the defaults in and returns all problems at once. It never
// repeats the base URL, which may hold a password.
func (c *Config) Complete(p Provider) error {
	var problems []error
	if c.Model = strings.TrimSpace(c.Model); c.Model == "" {
		problems = append(problems, fmt.Errorf("the model has no name (%s_MODEL)", p.Prefix))
	}
	if err := checkKey(c.APIKey.Reveal()); err != nil {
		problems = append(problems, fmt.Errorf("the API key (%s_API_KEY) %w", p.Prefix, err))
	}
	if c.BaseURL = strings.TrimRight(c.BaseURL, "/"); c.BaseURL == "" {
		c.BaseURL = p.BaseURL
	}
	if err := p.checkBaseURL(c.BaseURL); err != nil {
		problems = append(problems, fmt.Errorf("the base URL (%s_BASE_URL) %w", p.Prefix, err))
	}
	limits, err := c.WithDefaults()
	if c.Limits = limits; err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (p Provider) checkBaseURL(base string) error {
	if err := checkBaseURL(base); err != nil {
		return err
	}
	if strings.HasSuffix(base, p.Path) {
		return fmt.Errorf("ends with %s; %s", p.Path, p.Advice)
	}
	return nil
}
