package scheduler

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseAdd reads what people write behind /schedule add: when, then settings
// as key=value, then the prompt.
//
//	"0 9 * * 1-5" zone=Europe/Berlin What is on today?
//	every 2h missed=skip Look for news.
//	"at 2026-05-01 09:00" Say happy May Day.
//	@daily to=slack:T1:C1 to=telegram:7:8 Sum up yesterday.
//
// The quotes may be of any kind; without them the time is one word, or every or at and a
// word. Only what is written is set.
func ParseAdd(text string) (Definition, error) {
	var d Definition
	when, rest, err := cutWhen(strings.TrimSpace(text))
	if err != nil {
		return d, err
	}
	if err := d.SetWhen(when); err != nil {
		return d, err
	}
	for {
		word, after := cutWord(rest)
		key, value, found := strings.Cut(word, "=")
		set, known := d.settings()[strings.ToLower(key)]
		if !found || !known {
			d.Prompt = rest
			return d, nil
		}
		set(unquoted(value))
		rest = after
	}
}

// settings are what can be set by key=value. Wrong values are found by Check.
func (d *Definition) settings() map[string]func(string) {
	return map[string]func(string){
		"id":      func(v string) { d.ID = v },
		"zone":    func(v string) { d.Timezone = v },
		"to":      func(v string) { d.DeliverTo = append(d.DeliverTo, v) },
		"report":  func(v string) { d.ReportTo = v },
		"missed":  func(v string) { d.Missed = Missed(v) },
		"overlap": func(v string) { d.Overlap = Overlap(v) },
		"session": func(v string) { d.Session = SessionMode(v) },
		"jitter":  func(v string) { d.Jitter = v },
		"limit":   func(v string) { d.TimeLimit = v },
		"agent":   func(v string) { d.Agent = v },
		"tool":    func(v string) { d.Tools = append(d.Tools, v) },
	}
}

// quotes are the pairs that people's keyboards make.
func quotes() map[rune]rune {
	return map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '”': '”', '„': '“', '«': '»', '‘': '’'}
}

// cutWhen cuts the time off.
func cutWhen(text string) (when, rest string, err error) {
	first, size := utf8.DecodeRuneInString(text)
	if closing, quoted := quotes()[first]; quoted {
		inside := text[size:]
		end := strings.IndexFunc(inside, func(r rune) bool { return r == closing || r == '”' && closing == '“' })
		if end < 0 {
			return "", "", &ProblemError{"cron", "the quote is not closed"}
		}
		_, size = utf8.DecodeRuneInString(inside[end:])
		return inside[:end], strings.TrimSpace(inside[end+size:]), nil
	}
	when, rest = cutWord(text)
	if word := strings.ToLower(when); word == "every" || word == "at" {
		var value string
		value, rest = cutWord(rest)
		when += " " + value
	}
	return when, rest, nil
}

func cutWord(text string) (word, rest string) {
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimSpace(text[end:])
}

func unquoted(value string) string {
	if len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}

// SetWhen sets cron, every or at, whichever a text is.
func (d *Definition) SetWhen(when string) error {
	when = strings.TrimSpace(when)
	word, rest := cutWord(when)
	switch {
	case when == "":
		return &ProblemError{"cron", `say when: a cron expression in quotes, every 30m, or "at 2026-05-01 09:00"`}
	case strings.EqualFold(word, "every"):
		d.Every = strings.ReplaceAll(rest, " ", "")
	case strings.EqualFold(word, "at"):
		d.At = rest
	case strings.HasPrefix(when, "@") || len(strings.Fields(when)) > 2:
		d.Cron = when
	case isDuration(when):
		d.Every = when
	case len(when) >= len("2026-05-01") && when[4] == '-':
		d.At = when
	default:
		return &ProblemError{"cron", fmt.Sprintf(`%.64q is no time; write a cron expression in quotes ("0 9 * * 1-5"), every 30m, or "at 2026-05-01 09:00"`, when)}
	}
	return nil
}

func isDuration(text string) bool {
	_, err := parseDuration(text)
	return err == nil
}

// When is the time of a schedule as people write it.
func (d Definition) When() string {
	zone := " (" + orElse(d.Timezone, "UTC") + ")"
	switch {
	case d.Every != "":
		return "every " + d.Every
	case d.At != "":
		return "at " + d.At + zone
	}
	return d.Cron + zone
}
