package faketelegram

import (
	"regexp"
	"slices"
)

// entityPattern finds one kind of entity as its second group.
type entityPattern struct {
	kind    string
	pattern *regexp.Regexp
}

// entityPatterns are in the order of precedence: what one has found, none of
// the later ones finds again.
func entityPatterns() []entityPattern {
	return []entityPattern{
		{"email", regexp.MustCompile(`()([A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z]{2,})`)},
		{"url", regexp.MustCompile(`()(https?://[^\s]+)`)},
		{"mention", regexp.MustCompile(`(^|[^A-Za-z0-9_@/.])(@[A-Za-z0-9_]{3,32})`)},
		{"bot_command", regexp.MustCompile(`(^|[\s(])(/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)`)},
	}
}

// FindEntities finds what Telegram marks up in plain text by itself: mentions,
// commands, links and e-mail addresses. Offsets are UTF-16 code units.
func FindEntities(text string) []Entity { return findEntities(entityPatterns(), text) }

func findEntities(patterns []entityPattern, text string) []Entity {
	var found []Entity
	var taken [][2]int
	for _, p := range patterns {
		for _, match := range p.pattern.FindAllStringSubmatchIndex(text, -1) {
			from, to := match[4], match[5]
			if slices.ContainsFunc(taken, func(t [2]int) bool { return from < t[1] && t[0] < to }) {
				continue
			}
			taken = append(taken, [2]int{from, to})
			found = append(found, Entity{Type: p.kind, Offset: UTF16Length(text[:from]), Length: UTF16Length(text[from:to])})
		}
	}
	slices.SortFunc(found, func(a, b Entity) int { return a.Offset - b.Offset })
	return found
}
