package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

const jsonSpace = " \t\r\n"

// field is a name of a JSON object and its value, in the order of the text.
type field struct {
	name  string
	value json.RawMessage
}

var (
	errFields = errors.New("it is no JSON object")
	errBehind = errors.New("there is more behind its JSON object")
)

// fieldsOf reads the names of one JSON object, each of which may be there once.
// Nothing of the result is part of text.
func fieldsOf(text []byte, most int) ([]field, error) {
	text = bytes.Trim(text, jsonSpace)
	if len(text) == 0 || text[0] != '{' {
		return nil, errFields
	}
	if !json.Valid(text) {
		return nil, notOne(text)
	}
	var fields []field
	for rest := skipSpace(text[1:]); rest[0] != '}'; {
		end := valueEnd(rest)
		f := field{name: nameOf(rest[:end])}
		rest = skipSpace(skipSpace(rest[end:])[1:]) // the colon
		end = valueEnd(rest)
		f.value = bytes.Clone(rest[:end])
		if rest = skipSpace(rest[end:]); rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
		if fieldNamed(fields, f.name) != nil {
			return nil, fmt.Errorf("the name %.40q is there twice", f.name)
		}
		if fields = append(fields, f); len(fields) > most {
			return nil, fmt.Errorf("it has more than %d names", most)
		}
	}
	return fields, nil
}

// notOne says why a text is not one JSON value.
func notOne(text []byte) error {
	var one json.RawMessage
	if json.NewDecoder(bytes.NewReader(text)).Decode(&one) == nil {
		return errBehind
	}
	return errFields
}

func skipSpace(valid []byte) []byte { return bytes.TrimLeft(valid, jsonSpace) }

// valueEnd is where the value ends with which valid JSON begins.
func valueEnd(valid []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(valid); i++ {
		switch c := valid[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth > 0:
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == '}' || c == ']' || c == ':' || c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			return i
		}
	}
	return len(valid)
}

func nameOf(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 && utf8.Valid(quoted) {
		return string(quoted[1 : len(quoted)-1])
	}
	var name string
	_ = json.Unmarshal(quoted, &name) // it is valid
	return name
}

// fieldNamed is the field with a name, nil where there is none.
func fieldNamed(fields []field, name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

// objectOf is the JSON object of fields.
func objectOf(fields []field) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			out.WriteByte(',')
		}
		writeName(&out, f.name)
		out.Write(f.value)
	}
	out.WriteByte('}')
	return out.Bytes()
}

func writeName(out *bytes.Buffer, name string) {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(name)    // a text can always be written
	out.Truncate(out.Len() - 1) // the encoder's line break
	out.WriteByte(':')
}
