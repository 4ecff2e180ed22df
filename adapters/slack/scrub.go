package slack

import (
	"regexp"

	"parley/internal/secret"
)

// scrub removes from a text that others made what must not show: this app's
// secrets, anything shaped like a token of Slack's, and the ticket in a
// socket's address.
func (c Config) scrub(text string) string {
	for _, hidden := range []secret.String{c.BotToken, c.AppToken, c.SigningSecret} {
		text = hidden.Scrub(text)
	}
	return tokenShape().ReplaceAllString(text, secret.Mask)
}

func tokenShape() *regexp.Regexp {
	return regexp.MustCompile(`xox[a-z.]+-[0-9A-Za-z-]+|xapp-[0-9A-Za-z-]+|(?:ticket|token)=[^&\s"]+`)
}

// scrubbed is an error without secrets that still leads to its cause.
type scrubbed struct {
	text  string
	cause error
}

func (e *scrubbed) Error() string { return e.text }
func (e *scrubbed) Unwrap() error { return e.cause }

// clean is err with its text scrubbed. Only the text is: whoever prints the
// cause, prints it as it was.
func (c Config) clean(err error) error {
	if err == nil {
		return nil
	}
	return &scrubbed{text: c.scrub(err.Error()), cause: err}
}
