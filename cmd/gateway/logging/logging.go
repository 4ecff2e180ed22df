package logging

import (
	"io"
	"log/slog"
	"time"
)

// TextKey is the attribute that carries the text of a message.
const TextKey = "text"

// Options say how to log.
type Options struct {
	Level slog.Leveler   // nil is info
	JSON  bool           // JSON instead of readable lines
	Color bool           // readable lines in colour
	Text  bool           // keep TextKey attributes
	Zone  *time.Location // of the readable lines' clock; nil is local
}

// New makes a logger that writes to w, one Write per record.
func New(w io.Writer, options Options) *slog.Logger {
	clean := cleaner{text: options.Text}
	if options.JSON {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: options.Level, ReplaceAttr: clean.attr}))
	}
	return slog.New(newLineHandler(w, options, clean))
}
