package texts

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/sessions"
)

// Plain is outside text that Markdown leaves as it is.
func Plain(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r < 0x80 && strings.ContainsRune("\\`*_{}[]()<>#+-.!|~&@", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// Code is outside text inside a span of code.
func Code(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

// FirstLine is the first line of text that is not empty, at most limit runes.
func FirstLine(text string, limit int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) <= limit {
		return line
	}
	return strings.TrimSpace(string([]rune(line)[:limit-1])) + "…"
}

// Cut is the first limit runes of a text; what was cut ends with an ellipsis.
func Cut(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}

// Join is a list of words as people say it.
func Join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// Kinds are the words for kinds of attachment, each once.
func Kinds(attachments []sessions.Attachment) []string {
	var words []string
	for _, file := range attachments {
		word := map[string]string{
			"photo": "photos", "voice": "voice notes", "audio": "audio", "video": "videos", "document": "files",
			"sticker": "stickers", "location": "locations", "contact": "contacts",
		}[file.Kind]
		if word == "" {
			word = "attachments of this kind"
		}
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

func count(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// ago is a time as people say it.
func ago(then, now time.Time) string {
	switch passed := now.Sub(then); {
	case passed < time.Minute:
		return "just now"
	case passed < time.Hour:
		return fmt.Sprintf("%d min ago", int(passed.Minutes()))
	case passed < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(passed.Hours()))
	case passed < 14*24*time.Hour:
		return count(int64(passed.Hours()/24), "day") + " ago"
	default:
		return then.UTC().Format("2 Jan 2006")
	}
}
