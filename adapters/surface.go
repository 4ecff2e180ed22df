package adapters

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Local is the account of the platforms that have none: web, cli, api, schedule.
const Local = "local"

// SurfaceKeyMax bounds the length of a surface key in bytes.
const SurfaceKeyMax = 512

// ErrSurfaceKey is wrapped by every refusal of [ParseSurface].
var ErrSurfaceKey = errors.New("not a surface key")

// Surface is one place where people talk: a Telegram chat or topic, a Discord
// channel, thread or DM, a Slack channel, thread or DM, a browser, a terminal.
// It is comparable. Only the adapter that made it may read its parts.
type Surface struct {
	Platform Platform
	Account  string // the bot's own id on the platform, or Local
	Chat     string
	Thread   string // empty where the place has no threads
}

// Key is the stable, stored form platform:account:chat[:thread]. Colons,
// braces, percent signs, white space, control and format characters, and bytes
// that are not UTF-8 are percent-escaped inside a part, so two different
// surfaces never share a key, and a key is the same text in JSON.
func (s Surface) Key() string {
	key := escapePart(string(s.Platform)) + ":" + escapePart(s.Account) + ":" + escapePart(s.Chat)
	if s.Thread != "" {
		key += ":" + escapePart(s.Thread)
	}
	return key
}

// ChatKey is the key of the whole chat the surface belongs to: the surface
// without its thread. Group access is granted per chat.
func (s Surface) ChatKey() string {
	s.Thread = ""
	return s.Key()
}

// Crowd says who talks on a surface.
type Crowd int

// Crowds. Whoever does not know takes a surface for a group: nothing private
// may show up among strangers.
const (
	CrowdUnknown Crowd = iota
	CrowdDirect        // one person with the bot
	CrowdGroup         // many
)

// Crowd is what the surface's own name tells, without asking the platform.
func (s Surface) Crowd() Crowd {
	if s.Platform.Own() {
		return CrowdDirect
	}
	traits := s.Platform.Traits()
	switch {
	case fits(traits.DirectForm, s.Chat):
		return CrowdDirect
	case fits(traits.GroupForm, s.Chat):
		return CrowdGroup
	}
	return CrowdUnknown
}

func fits(form, id string) bool {
	if form == "" {
		return false
	}
	fit, err := regexp.MatchString(form, id)
	return err == nil && fit
}

// String is the key.
func (s Surface) String() string { return s.Key() }

// LogValue logs the key.
func (s Surface) LogValue() slog.Value { return slog.StringValue(s.Key()) }

// MarshalText is the key, so that surfaces are strings in JSON.
func (s Surface) MarshalText() ([]byte, error) { return []byte(s.Key()), nil }

// UnmarshalText parses the key.
func (s *Surface) UnmarshalText(text []byte) error {
	parsed, err := ParseSurface(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

// ParseSurface reads a key made by [Surface.Key]. It refuses anything that
// Key could not have written.
func ParseSurface(key string) (Surface, error) {
	if len(key) > SurfaceKeyMax {
		return Surface{}, fmt.Errorf("%w: longer than %d bytes", ErrSurfaceKey, SurfaceKeyMax)
	}
	parts := strings.Split(key, ":")
	if len(parts) != 3 && len(parts) != 4 {
		return Surface{}, fmt.Errorf("%w: %q is not platform:account:chat[:thread]", ErrSurfaceKey, key)
	}
	plain := make([]string, 4)
	for i, part := range parts {
		text, err := unescapePart(part)
		if err != nil {
			return Surface{}, fmt.Errorf("%w: %q: %w", ErrSurfaceKey, key, err)
		}
		if text == "" {
			return Surface{}, fmt.Errorf("%w: %q has an empty part", ErrSurfaceKey, key)
		}
		plain[i] = text
	}
	s := Surface{Platform: Platform(plain[0]), Account: plain[1], Chat: plain[2], Thread: plain[3]}
	if s.Key() != key {
		return Surface{}, fmt.Errorf("%w: %q is not in its one canonical form", ErrSurfaceKey, key)
	}
	return s, nil
}

const hexDigits = "0123456789ABCDEF"

// mustEscape reports whether a character cannot stand in a key as it is:
// what keys are made of, what cannot be seen, and what is not UTF-8, which
// JSON would change.
func mustEscape(r rune, size int) bool {
	return strings.ContainsRune(" :%{}", r) || r == utf8.RuneError && size == 1 ||
		unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

func escapePart(part string) string {
	var out strings.Builder
	for i := 0; i < len(part); {
		r, size := utf8.DecodeRuneInString(part[i:])
		if !mustEscape(r, size) {
			out.WriteString(part[i : i+size])
			i += size
			continue
		}
		for range size {
			out.WriteByte('%')
			out.WriteByte(hexDigits[part[i]>>4])
			out.WriteByte(hexDigits[part[i]&15])
			i++
		}
	}
	return out.String()
}

func unescapePart(part string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(part); i++ {
		if part[i] != '%' {
			out.WriteByte(part[i])
			continue
		}
		if i+2 >= len(part) {
			return "", errors.New("a % escape is cut short")
		}
		high, low := strings.IndexByte(hexDigits, part[i+1]), strings.IndexByte(hexDigits, part[i+2])
		if high < 0 || low < 0 {
			return "", errors.New("a % escape is not two hex digits")
		}
		out.WriteByte(byte(high<<4 | low))
		i += 2
	}
	return out.String(), nil
}
