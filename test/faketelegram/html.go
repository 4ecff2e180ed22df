package faketelegram

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// UTF16Length is the length of text in UTF-16 code units.
func UTF16Length(text string) int {
	n := 0
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// ParseHTML parses the HTML subset of parse_mode=HTML: it gives the visible
// text and its entities, or the refusal of the real server. It is stricter in
// one thing: a block quote in a block quote, or anything inside code, is
// refused instead of being dropped.
func ParseHTML(source string) (string, []Entity, error) {
	p := htmlParser{source: source}
	if err := p.parse(); err != nil {
		return "", nil, err
	}
	return p.out.String(), p.entities, nil
}

// unparsable is the server's refusal of entities, in its own words.
func unparsable(format string, args ...any) error {
	return badRequest("can't parse entities: " + fmt.Sprintf(format, args...))
}

type openTag struct {
	name, argument string
	offset, at     int // UTF-16 offset in the text, byte offset in the source
}

type htmlParser struct {
	source   string
	at       int
	out      strings.Builder
	units    int
	open     []openTag
	entities []Entity
}

func (p *htmlParser) parse() error {
	for p.at < len(p.source) {
		if p.source[p.at] != '<' {
			p.character()
			continue
		}
		end := strings.IndexByte(p.source[p.at:], '>')
		if end < 0 {
			return unparsable("Unclosed start tag at byte offset %d", p.at)
		}
		tag := p.source[p.at+1 : p.at+end]
		var err error
		if name, closing := strings.CutPrefix(tag, "/"); closing {
			err = p.closeTag(name)
		} else {
			err = p.openTag(tag)
		}
		if err != nil {
			return err
		}
		p.at += end + 1
	}
	if n := len(p.open); n > 0 {
		return unparsable("Can't find end tag corresponding to start tag \"%s\"", p.open[n-1].name)
	}
	return nil
}

func (p *htmlParser) character() {
	r, size := utf8.DecodeRuneInString(p.source[p.at:])
	if r == '&' {
		if decoded, length := reference(p.source[p.at:]); length > 0 {
			r, size = decoded, length
		}
	}
	p.out.WriteRune(r)
	p.units += max(1, utf16.RuneLen(r))
	p.at += size
}

// reference decodes the four named references and the numeric ones.
func reference(text string) (rune, int) {
	end := strings.IndexByte(text[:min(len(text), 12)], ';')
	if end < 0 {
		return 0, 0
	}
	name := text[1:end]
	switch name {
	case "lt":
		return '<', end + 1
	case "gt":
		return '>', end + 1
	case "amp":
		return '&', end + 1
	case "quot":
		return '"', end + 1
	}
	digits, numeric := strings.CutPrefix(name, "#")
	base := 10
	if hex, is := strings.CutPrefix(digits, "x"); is {
		digits, base = hex, 16
	}
	code, err := strconv.ParseInt(digits, base, 32)
	if !numeric || err != nil || code <= 0 || code > utf8.MaxRune {
		return 0, 0
	}
	return rune(code), end + 1
}

var entityTypes = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler",
	"a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
}

func (p *htmlParser) openTag(tag string) error {
	name, rest, _ := strings.Cut(tag, " ")
	name = strings.ToLower(name)
	if entityTypes[name] == "" {
		return unparsable("Unsupported start tag \"%s\" at byte offset %d", name, p.at)
	}
	argument, err := p.attribute(name, rest)
	if err != nil {
		return err
	}
	for _, outer := range p.open {
		inCode := outer.name == "code" || outer.name == "pre" && name != "code"
		if inCode || outer.name == "blockquote" && name == "blockquote" {
			return unparsable("\"%s\" inside \"%s\" at byte offset %d", name, outer.name, p.at)
		}
	}
	p.open = append(p.open, openTag{name: name, argument: argument, offset: p.units, at: p.at})
	return nil
}

// attribute reads the one attribute a tag may have.
func (p *htmlParser) attribute(name, text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || name == "blockquote" && text == "expandable" {
		return "", nil
	}
	key, value, found := strings.Cut(text, "=")
	wanted := map[string]string{"a": "href", "code": "class"}[name]
	if !found || key != wanted || len(value) < 2 || value[0] != '"' || strings.IndexByte(value[1:], '"') != len(value)-2 {
		return "", unparsable("Bad attribute of tag \"%s\" at byte offset %d", name, p.at)
	}
	return value[1 : len(value)-1], nil
}

func (p *htmlParser) closeTag(name string) error {
	n := len(p.open)
	if n == 0 {
		return unparsable("Unexpected end tag at byte offset %d", p.at)
	}
	top := p.open[n-1]
	if !strings.EqualFold(name, top.name) {
		return unparsable("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", p.at, top.name, name)
	}
	p.open = p.open[:n-1]
	if p.units == top.offset {
		return nil
	}
	entity := Entity{Type: entityTypes[top.name], Offset: top.offset, Length: p.units - top.offset}
	if top.name == "a" {
		entity.URL = top.argument
	}
	entity.Language = strings.TrimPrefix(top.argument, "language-")
	if top.name != "code" {
		entity.Language = ""
	}
	p.entities = append(p.entities, entity)
	return nil
}
