package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Environ looks a variable up, as os.LookupEnv does.
type Environ func(name string) (value string, set bool)

// get treats a variable that is set to nothing as one that is not set.
func (e Environ) get(name string) string {
	value, _ := e(name)
	return strings.TrimSpace(value)
}

// expand replaces ${NAME} and ${NAME:-default} in text. $${ stands for a plain
// ${ and any other dollar sign for itself. ${NAME} of a variable that is not
// set is an error; an empty one counts as set, but ${NAME:-default} then takes
// the default, as a shell does. What a variable holds is not expanded again.
func expand(text string, environ Environ) (string, error) {
	var out strings.Builder
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		if start > 0 && text[start-1] == '$' {
			out.WriteString(text[:start-1] + "${")
			text = text[start+2:]
			continue
		}
		out.WriteString(text[:start])
		inside, rest, closed := strings.Cut(text[start+2:], "}")
		if !closed {
			return "", errors.New("${ has no closing brace; write $${ for a plain ${")
		}
		name, fallback, hasFallback := strings.Cut(inside, ":-")
		if !variable.MatchString(name) {
			return "", fmt.Errorf("${%s} is not a variable; use ${NAME} or ${NAME:-default}, and $${ for a plain ${", inside)
		}
		value, set := environ(name)
		switch {
		case hasFallback && value == "":
			value = fallback
		case !set && !hasFallback:
			return "", fmt.Errorf("the variable %s is not set; set it, or write ${%s:-default}", name, name)
		}
		out.WriteString(value)
		text = rest
	}
}
