package routing

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// UndirectedPrefix marks, behind the label, an owner's group message that is
// not directed at the bot.
const UndirectedPrefix = "[not directed at you]"

// ForwardedPrefix begins the mark of words that are not the speaker's own.
const ForwardedPrefix = "[forwarded"

// LabelNameMax bounds the name in a label, in runes; longer ones are cut.
const LabelNameMax = 64

// fromMax bounds in runes whose words were forwarded, so that the mark is no
// longer than a label that [StripLabel] takes off.
const fromMax = 40

// prefixLetters are the letters of UndirectedPrefix, and no fewer bytes spell
// it; forwardedLetters those of ForwardedPrefix.
const (
	prefixLetters    = "notdirectedatyou"
	forwardedLetters = "forwarded"
)

// noName labels a speaker of whom neither name nor id is known.
const noName = "unknown"

// Said is a message of a person, as its label needs it.
type Said struct {
	Name, ID        string // of the speaker: display name, and the platform's id
	Speaker         string // who speaks, as [SpeakerLabel] says it; empty: made of Name and ID
	Group           bool   // it is read in a group's conversation
	Directed        bool   // it is known to be meant for the bot
	OwnerUndirected bool   // an owner spoke to nobody in particular
	Forwarded       bool   // the speaker only passed it on
	From            string // of Forwarded: whose words they are; empty: it is not known
	Text            string
}

// Label is what the model reads of a message. In a group it begins with the
// speaker, "[Alice] hello", and for an owner's message that is not directed at
// the bot "[Alice] [not directed at you] hello"; in a direct chat it is the
// text. Of speakers with one name the platform's id tells who is who, as in
// "[Alice] [telegram:7] hello". Words of somebody else are marked everywhere, as in "[Alice] [forwarded
// from Bob] hello". What is stored and shown to people is the text alone.
//
// No sender can write a label, the prefix or the mark: names are neutralised by
// [LabelName], and every line of group text or of forwarded words that begins
// like a label gets a backslash before its bracket. Everything else of the text
// stays as it is.
func Label(said Said) string {
	if !said.Group && !said.Forwarded {
		return said.Text
	}
	speaker := said.Speaker
	if said.Group && speaker == "" {
		speaker = SpeakerLabel(said.Name, said.ID, false)
	}
	var out strings.Builder
	out.Grow(len(speaker) + 1 + len(said.Text)) // most have nothing else
	if said.Group {
		out.WriteString(speaker)
		out.WriteByte(' ')
		if said.OwnerUndirected && !said.Directed {
			out.WriteString(UndirectedPrefix + " ")
		}
	}
	if said.Forwarded {
		out.WriteString(ForwardedPrefix)
		if from := LabelName(said.From, ""); from != noName {
			out.WriteString(" from " + strings.TrimSpace(firstRunes(from, fromMax)))
		}
		out.WriteString("] ")
	}
	escapeLabels(&out, said.Text)
	return out.String()
}

// SpeakerLabel is the beginning of a label: who speaks.
func SpeakerLabel(name, id string, namesake bool) string {
	label := "[" + LabelName(name, id) + "]"
	if namesake {
		label += " [" + LabelName(id, "") + "]"
	}
	return label
}

// LookAlike is equal for names that pass for one another: it is their letters
// and digits, in any case. A name without any passes for itself alone.
func LookAlike(name, id string) string {
	seen := LabelName(name, id)
	spelt := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, seen)
	return cmp.Or(spelt, seen)
}

// LabelName makes a name safe inside a label: brackets of any script become
// parentheses, white space of any kind one space, characters that do not show
// (control, bidirectional, zero-width, invalid) go, and at most LabelNameMax
// runes stay. A name of which nothing stays, or which spells the prefix or the
// mark, is replaced by the platform id, treated alike.
func LabelName(senderName, platformID string) string {
	for _, candidate := range []string{senderName, platformID} {
		name := neutralise(candidate)
		if name != "" && !spellsPrefix(name) {
			return name
		}
	}
	return noName
}

func neutralise(name string) string {
	seen := strings.Join(strings.Fields(strings.Map(neutralRune, name)), " ")
	seen = strings.TrimLeftFunc(seen, unicode.IsMark) // they would decorate the bracket
	return strings.TrimSpace(firstRunes(seen, LabelNameMax))
}

func firstRunes(s string, limit int) string {
	count := 0
	for i := range s {
		if count == limit {
			return s[:i]
		}
		count++
	}
	return s
}

// neutralRune is what stays of r in a name: itself, a parenthesis, a space, or
// -1 for nothing.
func neutralRune(r rune) rune {
	switch {
	case unicode.IsSpace(r), isBlank(r):
		return ' '
	case r == utf8.RuneError, !unicode.IsGraphic(r):
		return -1
	case unicode.Is(unicode.Ps, r):
		return '('
	case unicode.Is(unicode.Pe, r):
		return ')'
	default:
		return r
	}
}

// isBlank is for the characters that count as letters or symbols and show
// nothing: the Hangul fillers and the empty Braille pattern.
func isBlank(r rune) bool {
	switch r {
	case '\u115F', '\u1160', '\u3164', '\uFFA0', '\u2800':
		return true
	default:
		return false
	}
}

// spellsPrefix compares letters only, in any case.
func spellsPrefix(name string) bool {
	if len(name) < len(forwardedLetters) {
		return false
	}
	spelt := letters(name)
	return strings.HasPrefix(spelt, forwardedLetters) || strings.Contains(spelt, prefixLetters)
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// escapeLabels writes text with a backslash before every bracket that begins a
// line. Characters that do not show do not hide a beginning.
func escapeLabels(out *strings.Builder, text string) {
	begins, written := true, 0
	for at, r := range text {
		switch {
		case isLineBreak(r):
			begins = true
		case begins && isSquare(r):
			out.WriteString(text[written:at])
			out.WriteByte('\\')
			begins, written = false, at
		case begins && !isUnseen(r):
			begins = false
		}
	}
	out.WriteString(text[written:])
}

func isLineBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	default:
		return false
	}
}

func isUnseen(r rune) bool {
	return unicode.IsSpace(r) || isBlank(r) || !unicode.IsGraphic(r) || unicode.Is(unicode.M, r)
}

// isSquare is for opening brackets that pass for the one of a label.
func isSquare(r rune) bool {
	return strings.ContainsRune("[［⁅⟦【〔〖〘〚﹇﹝❲⦋⦍⦏⦗⟬⸢⸤", r)
}
