package config

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of who the bot is.
const (
	PersonaMax = 32 << 10 // bytes of a persona, from the file too
	NameMax    = 64       // characters of a name
)

// PersonaText is who the bot is: the text, or what stands in the file; empty:
// nothing was said. It reads the file anew each time.
func (c Config) PersonaText() (string, error) {
	if c.PersonaFile == "" {
		return strings.TrimSpace(c.Persona), nil
	}
	file, err := os.Open(c.PersonaFile)
	if err != nil {
		return "", fmt.Errorf("the persona cannot be read: %w", err)
	}
	defer func() { _ = file.Close() }() // only read from
	text, err := io.ReadAll(io.LimitReader(file, PersonaMax+1))
	if err != nil {
		return "", fmt.Errorf("the persona cannot be read: %w", err)
	}
	if why := personaProblem(string(text)); why != "" {
		return "", fmt.Errorf("%s %s", c.PersonaFile, why)
	}
	return strings.TrimSpace(string(text)), nil
}

func personaProblem(text string) string {
	switch {
	case len(text) > PersonaMax:
		return fmt.Sprintf("is longer than %d bytes; the model reads it with every answer", PersonaMax)
	case !utf8.ValidString(text):
		return "is not text in UTF-8"
	}
	return ""
}

// persona checks who the bot is; the file as well, so that a wrong one is
// found before a gateway starts with it.
func (v *validator) persona(c Config) {
	if c.Persona != "" && c.PersonaFile != "" {
		v.complain("persona_file", "cannot be used together with persona; keep one of both")
		return
	}
	if why := personaProblem(c.Persona); why != "" {
		v.complain("persona", "%s", why)
	}
	if _, err := c.PersonaText(); err != nil {
		v.complain("persona_file", "%s", err)
	}
	if utf8.RuneCountInString(c.Name) > NameMax || strings.ContainsFunc(c.Name, unicode.IsControl) {
		v.complain("name", "must be one line of at most %d characters", NameMax)
	}
}
