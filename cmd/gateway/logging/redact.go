package logging

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"
	"unicode"

	"parley/adapters"
	"parley/internal/secret"
)

// credential matches the forms in which tokens and keys are handed out. It
// prefers masking too much.
var credential = regexp.MustCompile(credentialForms())

func credentialForms() string {
	forms := []string{
		`sk-[A-Za-z0-9_-]{16,}`,                // model providers
		`(?i:bearer)\s+[A-Za-z0-9._~+/=-]{8,}`, // HTTP
	}
	for _, platform := range adapters.Joined() {
		if form := platform.Traits().Secrets; form != "" {
			forms = append(forms, form)
		}
	}
	return strings.Join(forms, "|")
}

// password matches the password of an address, also of one that is written
// wrongly: without its scheme, or with one slash.
var password = regexp.MustCompile(`((?:^|[\s"'=/(])[^\s/:@"'=(]*:)[^\s/@"]+(@)`)

// tokenRun is the shortest run of a token's characters in those credentials
// that begin with no word of their own: the last part of Discord's.
const tokenRun = 27

// suspect reports whether credential could match: it misses none, and spares
// ordinary values the expression.
func suspect(text string) bool {
	run := 0
	for i := range len(text) {
		c := text[i]
		if !tokenByte(c) {
			run = 0
			continue
		}
		if run++; run == tokenRun {
			return true
		}
		switch c {
		case 'x', 's', 'b', 'B':
			if named(text[i:]) {
				return true
			}
		}
	}
	return false
}

func named(rest string) bool {
	return strings.HasPrefix(rest, "xox") || strings.HasPrefix(rest, "xapp-") || strings.HasPrefix(rest, "sk-") ||
		len(rest) >= 6 && strings.EqualFold(rest[:6], "bearer")
}

func tokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// Redact masks what looks like a credential.
func Redact(text string) string {
	if suspect(text) {
		text = credential.ReplaceAllString(text, secret.Mask)
	}
	if strings.IndexByte(text, '@') > 0 {
		text = password.ReplaceAllString(text, "${1}"+secret.Mask+"${2}")
	}
	return text
}

// cleaner makes attributes fit to be written.
type cleaner struct{ text bool }

// attr is a slog ReplaceAttr: it drops message texts, and turns every value
// that could hold a credential or a control character into clean text.
func (c cleaner) attr(_ []string, attr slog.Attr) slog.Attr {
	if attr.Key == TextKey && !c.text {
		return slog.Attr{}
	}
	switch attr.Value.Kind() {
	case slog.KindString:
		attr.Value = slog.StringValue(clean(attr.Value.String()))
	case slog.KindAny:
		attr.Value = cleanAny(attr.Value.Any())
	}
	return attr
}

func cleanAny(value any) slog.Value {
	switch v := value.(type) {
	case error:
		return slog.StringValue(clean(v.Error()))
	case slog.Level, time.Time, *slog.Source:
		return slog.AnyValue(v)
	}
	text := fmt.Sprintf("%+v", value)
	if cleaned := clean(text); cleaned != text {
		return slog.StringValue(cleaned)
	}
	return slog.AnyValue(value)
}

// clean redacts text and shows invisible characters by their code: colours
// and cursor movements of a terminal, and what turns the writing direction.
func clean(text string) string { return Visible(Redact(text)) }

// Visible shows control and formatting characters by their code, so that text
// from outside cannot steer a terminal. Line breaks become \n.
func Visible(text string) string {
	if strings.IndexFunc(text, Invisible) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case Invisible(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// Invisible reports whether a character is not shown: it steers a terminal,
// turns the writing direction, or joins what stands around it.
func Invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar ||
		r == '\u2028' || r == '\u2029'
}
