package telegram

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// mentions reports whether a text names the bot: by an entity, by a command
// addressed to it, or, where a client set no entity, by a literal @name as a
// whole word outside code and links.
func mentions(text string, entities []entity, me self) bool {
	units := utf16.Encode([]rune(text))
	name := "@" + me.Username
	for _, e := range entities {
		if e.Type == "text_mention" && e.User != nil && e.User.ID == me.ID {
			return true
		}
		part, rest, ok := slice(units, e)
		if !ok || me.Username == "" {
			continue
		}
		switch e.Type {
		case "mention":
			if strings.EqualFold(part, name) && endsWord(rest) {
				return true
			}
		case "bot_command":
			if _, addressee, addressed := strings.Cut(part, "@"); addressed && strings.EqualFold(addressee, me.Username) {
				return true
			}
		}
	}
	if me.Username == "" {
		return false
	}
	return leadingCommandFor(text, me) || literal(outside(units, entities), name)
}

// slice is the text an entity covers, and what follows it.
func slice(units []uint16, e entity) (part, rest string, ok bool) {
	if e.Offset < 0 || e.Length <= 0 || e.Offset > len(units) || e.Length > len(units)-e.Offset {
		return "", "", false
	}
	end := e.Offset + e.Length
	follow := min(len(units), end+4)
	return string(utf16.Decode(units[e.Offset:end])), string(utf16.Decode(units[end:follow])), true
}

// outside is the text with the parts blanked that quote or link rather than
// speak.
func outside(units []uint16, entities []entity) string {
	blanked := append([]uint16(nil), units...)
	for _, e := range entities {
		switch e.Type {
		case "code", "pre", "url", "text_link", "email":
			if _, _, ok := slice(units, e); ok {
				for i := range e.Length {
					blanked[e.Offset+i] = ' '
				}
			}
		}
	}
	return string(utf16.Decode(blanked))
}

// leadingCommandFor reports whether text begins with /command@name.
func leadingCommandFor(text string, me self) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	first, _, _ = strings.Cut(first, "\n")
	command, addressee, addressed := strings.Cut(first, "@")
	return addressed && len(command) > 1 && command[0] == '/' && strings.EqualFold(addressee, me.Username)
}

// literal finds name in text as a whole word, in any letter case.
func literal(text, name string) bool {
	for at := 0; at+len(name) <= len(text); at++ {
		if text[at] == '@' && strings.EqualFold(text[at:at+len(name)], name) &&
			beginsWord(text[:at]) && endsWord(text[at+len(name):]) {
			return true
		}
	}
	return false
}

// beginsWord reports whether an @ after before begins a name: an e-mail
// address's does not.
func beginsWord(before string) bool {
	trimmed := strings.TrimRight(before, "-+%")
	r, _ := utf8.DecodeLastRuneInString(trimmed)
	return trimmed == "" || !isWord(r) && r != '@'
}

// endsWord reports whether a name is over before what follows: @bot-dev and
// @bot_2 are others' names, and @bot@host is an address.
func endsWord(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	if r == '-' {
		next, _ := utf8.DecodeRuneInString(after[size:])
		return !isWord(next) || len(after) == size
	}
	return after == "" || !isWord(r) && r != '@'
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
