package slack

import (
	"strings"
)

// readable turns Slack's markup of a message into text for people and models,
// in one pass: references become names, links become addresses, escapes are
// undone. The bot's own mention is taken out, with the gap it leaves, and
// reported.
func readable(raw string, around facts) (text string, mentioned bool) {
	var out strings.Builder
	for {
		i := strings.IndexByte(raw, '<')
		if i < 0 {
			break
		}
		end := strings.IndexByte(raw[i:], '>')
		if end < 0 {
			break
		}
		writeUnescaped(&out, raw[:i])
		inner := raw[i+1 : i+end]
		raw = raw[i+end+1:]
		if isMention(inner, around.me.User) {
			mentioned = true
			raw = closeGap(&out, raw)
			continue
		}
		writeUnescaped(&out, reference(inner, around))
	}
	writeUnescaped(&out, raw)
	if mentioned {
		return strings.TrimSpace(out.String()), true
	}
	return out.String(), false
}

// isMention reports whether the inside of a reference names this user.
func isMention(inner, user string) bool {
	id, _, _ := strings.Cut(inner, "|")
	return user != "" && id == "@"+user
}

// closeGap leaves at most one space where something was taken out between
// what is written and what follows.
func closeGap(out *strings.Builder, rest string) string {
	written := out.String()
	if written == "" || strings.HasSuffix(written, " ") || strings.HasSuffix(written, "\n") {
		return strings.TrimLeft(rest, " ")
	}
	return rest
}

// reference is the readable form of what stands between < and >, still
// escaped: a person, a channel, a group, a date, a link.
func reference(inner string, around facts) string {
	id, label, labelled := strings.Cut(inner, "|")
	switch {
	case strings.HasPrefix(id, "@"):
		return "@" + firstOf(escaped(around.users[id[1:]]), label, id[1:])
	case strings.HasPrefix(id, "#"):
		return "#" + firstOf(label, escaped(around.channels[id[1:]].Name), id[1:])
	case strings.HasPrefix(id, "!date^"):
		return firstOf(label, id)
	case strings.HasPrefix(id, "!"):
		name, _, _ := strings.Cut(id[1:], "^")
		return "@" + strings.TrimPrefix(firstOf(label, name), "@")
	}
	return link(id, label, labelled)
}

// link is an address with its label, where that says something else.
func link(address, label string, labelled bool) string {
	plain := strings.TrimPrefix(strings.TrimPrefix(address, "mailto:"), "tel:")
	bare := strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://")
	switch {
	case !labelled, label == "", label == address, label == bare, label+"/" == bare:
		return plain
	case label == plain:
		return label
	}
	return label + " (" + plain + ")"
}

func firstOf(candidates ...string) string {
	for _, candidate := range candidates {
		if candidate != "" {
			return candidate
		}
	}
	return ""
}

// escaped protects a name that is written among escaped text.
func escaped(name string) string { return strings.ReplaceAll(name, "&", "&amp;") }

// writeUnescaped undoes Slack's three escapes, each once.
func writeUnescaped(out *strings.Builder, text string) {
	for {
		i := strings.IndexByte(text, '&')
		if i < 0 {
			out.WriteString(text)
			return
		}
		out.WriteString(text[:i])
		text = text[i:]
		switch {
		case strings.HasPrefix(text, "&amp;"):
			out.WriteByte('&')
			text = text[len("&amp;"):]
		case strings.HasPrefix(text, "&lt;"):
			out.WriteByte('<')
			text = text[len("&lt;"):]
		case strings.HasPrefix(text, "&gt;"):
			out.WriteByte('>')
			text = text[len("&gt;"):]
		default:
			out.WriteByte('&')
			text = text[1:]
		}
	}
}
