package endpoint

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"parley/internal/secret"
)

// reasonMax bounds a provider's words in an error, in runes.
const reasonMax = 500

// Scrubber makes texts that others wrote fit for an error: no secret, one
// line, not long.
type Scrubber struct {
	secrets []secret.String
	shapes  []*regexp.Regexp
}

// NewScrubber masks the key and everything secret in the base URL.
func NewScrubber(key secret.String, base string) Scrubber {
	s := Scrubber{shapes: []*regexp.Regexp{
		regexp.MustCompile(`sk-[\w.*-]{3,}`), // keys, also as providers quote them, half starred
		regexp.MustCompile(`//[^/@\s"]+@`),   // user information in a URL
		regexp.MustCompile(`(?i)bearer \S+`),
	}}
	s.add(key.Reveal())
	parsed, err := url.Parse(base)
	if err != nil || parsed.User == nil {
		return s
	}
	password, _ := parsed.User.Password()
	s.add(password)
	s.add(url.QueryEscape(password))
	s.add(base64.StdEncoding.EncodeToString([]byte(parsed.User.Username() + ":" + password)))
	return s
}

func (s *Scrubber) add(plain string) {
	if plain != "" {
		s.secrets = append(s.secrets, secret.New(plain))
	}
}

// Clean masks, joins lines, drops what cannot be seen, and cuts.
func (s Scrubber) Clean(text string) string {
	for _, hidden := range s.secrets {
		text = hidden.Scrub(text)
	}
	for _, shape := range s.shapes {
		text = shape.ReplaceAllString(text, secret.Mask)
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }), " ")
	if runes := []rune(text); len(runes) > reasonMax {
		return string(runes[:reasonMax]) + "…"
	}
	return text
}
