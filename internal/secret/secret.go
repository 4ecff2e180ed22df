// Package secret holds the one type that carries tokens and keys.
//
// It is a leaf: every room may import it and it imports none. Its promise is
// that a secret which is printed, logged, marshalled or put into an error by
// accident shows as ***, in every format the standard library has.
package secret

import (
	"encoding/json"
	"log/slog"
	"strings"
)

// Mask is what every secret prints as.
const Mask = "***"

// String is a token, key or password. The zero value is "not set". Two of them
// are compared by what they reveal, not with ==.
type String struct {
	// A pointer, because fmt cannot call methods on a struct's unexported
	// fields and would print a plain string there.
	value *string
}

// New wraps a plain value.
func New(value string) String { return String{value: &value} }

// Reveal returns the plain value, for the one place that has to send it.
func (s String) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether no secret is set.
func (s String) IsZero() bool { return s.Reveal() == "" }

// String masks the value; an unset secret prints as nothing.
func (s String) String() string {
	if s.IsZero() {
		return ""
	}
	return Mask
}

// GoString masks the value for %#v.
func (s String) GoString() string { return s.String() }

// LogValue masks the value for slog.
func (s String) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON masks the value.
func (s String) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// MarshalText masks the value, for every text encoder.
func (s String) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the plain value, so that configuration can hold secrets.
func (s *String) UnmarshalText(text []byte) error {
	*s = New(strings.TrimSpace(string(text)))
	return nil
}

// Scrub replaces every occurrence of the secret in text with [Mask]. It is the
// second net for texts that others made, such as transport errors.
func (s String) Scrub(text string) string {
	if s.IsZero() {
		return text
	}
	return strings.ReplaceAll(text, s.Reveal(), Mask)
}
