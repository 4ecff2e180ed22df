package config

import (
	"log/slog"
	"regexp"
	"strings"

	"parley/internal/secret"
)

var secretParameter = regexp.MustCompile(`(?i)([?&][^=&]*(?:pass|token|key|secret)[^=&]*=)[^&#]*`)

// URL is an address that may hold a password. It prints with everything that
// could be one masked; only [URL.Reveal] gives the plain text.
type URL string

// Reveal returns the address as it was written.
func (u URL) Reveal() string { return string(u) }

// String masks passwords.
func (u URL) String() string { return maskQuery(maskUserInfo(string(u))) }

// GoString masks passwords for %#v.
func (u URL) GoString() string { return u.String() }

// LogValue masks passwords for slog.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText masks passwords for every text encoder, JSON too.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads the plain address.
func (u *URL) UnmarshalText(text []byte) error {
	*u = URL(strings.TrimSpace(string(text)))
	return nil
}

// maskUserInfo works on the text, because an address with several hosts is
// none that net/url reads. Everything up to the last @ before the path counts,
// so that a password with an unescaped @ is masked as a whole.
func maskUserInfo(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		return address
	}
	authority, path := rest, ""
	if at := strings.LastIndexByte(rest, '@'); at < 0 {
		return address
	} else if slash := strings.IndexByte(rest[at:], '/'); slash >= 0 {
		authority, path = rest[:at+slash], rest[at+slash:]
	}
	at := strings.LastIndexByte(authority, '@')
	user, _, hasPassword := strings.Cut(authority[:at], ":")
	if !hasPassword {
		return scheme + "://" + secret.Mask + authority[at:] + path
	}
	return scheme + "://" + user + ":" + secret.Mask + authority[at:] + path
}

func maskQuery(address string) string {
	return secretParameter.ReplaceAllString(address, "${1}"+secret.Mask)
}
