package logging

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// MessageWidth is the column, in characters, up to which messages are filled
// so that their attributes stand below each other.
const MessageWidth = 36

// lineHandler writes "15:04:05.000 INFO  message   key=value …".
type lineHandler struct {
	mu     *sync.Mutex // guards out
	out    io.Writer
	level  slog.Leveler
	color  bool
	zone   *time.Location
	clean  cleaner
	groups []string
	attrs  []byte // of With, written already
}

func newLineHandler(w io.Writer, options Options, clean cleaner) *lineHandler {
	h := &lineHandler{mu: new(sync.Mutex), out: w, level: options.Level, color: options.Color, zone: options.Zone, clean: clean}
	if h.level == nil {
		h.level = slog.LevelInfo
	}
	if h.zone == nil {
		h.zone = time.Local
	}
	return h
}

// Enabled compares with the level.
func (h *lineHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level.Level()
}

// WithAttrs returns a handler that adds attrs to every line.
func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	var out bytes.Buffer
	out.Write(h.attrs)
	for _, attr := range attrs {
		h.writeAttr(&out, h.groups, attr)
	}
	next.attrs = out.Bytes()
	return &next
}

// WithGroup returns a handler that puts name before the keys of later attributes.
func (h *lineHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	next.groups = append(slices.Clone(h.groups), name)
	return &next
}

// Handle writes one line.
func (h *lineHandler) Handle(_ context.Context, record slog.Record) error {
	var out bytes.Buffer
	if !record.Time.IsZero() {
		h.paint(&out, dim, record.Time.In(h.zone).Format("15:04:05.000"))
		out.WriteByte(' ')
	}
	h.paint(&out, levelColor(record.Level), fill(record.Level.String(), 5))
	out.WriteByte(' ')
	message := clean(record.Message)
	if len(h.attrs) > 0 || record.NumAttrs() > 0 {
		message = fill(message, MessageWidth)
	}
	out.WriteString(message)
	out.Write(h.attrs)
	record.Attrs(func(attr slog.Attr) bool {
		h.writeAttr(&out, h.groups, attr)
		return true
	})
	line := append(bytes.TrimRight(out.Bytes(), " "), '\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.out.Write(line)
	return err
}

func (h *lineHandler) writeAttr(out *bytes.Buffer, groups []string, attr slog.Attr) {
	attr.Value = attr.Value.Resolve()
	if attr.Value.Kind() == slog.KindGroup {
		if attr.Key != "" {
			groups = append(slices.Clone(groups), attr.Key)
		}
		for _, inner := range attr.Value.Group() {
			h.writeAttr(out, groups, inner)
		}
		return
	}
	attr = h.clean.attr(groups, attr)
	if attr.Equal(slog.Attr{}) {
		return
	}
	out.WriteByte(' ')
	h.paint(out, dim, Visible(strings.Join(append(slices.Clone(groups), attr.Key), "."))+"=")
	value := clean(attr.Value.String())
	if attr.Key == "error" || attr.Key == "err" {
		h.paint(out, red, quoteWhereNeeded(value))
		return
	}
	out.WriteString(quoteWhereNeeded(value))
}

// quoteWhereNeeded makes the end of a value plain to see.
func quoteWhereNeeded(value string) string {
	if value == "" || strings.ContainsAny(value, " \"=") {
		return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
	}
	return value
}

func fill(text string, width int) string {
	if missing := width - utf8.RuneCountInString(text); missing > 0 {
		return text + strings.Repeat(" ", missing)
	}
	return text
}

const (
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	green  = "\x1b[32m"
	reset  = "\x1b[0m"
)

func levelColor(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return red
	case level >= slog.LevelWarn:
		return yellow
	case level >= slog.LevelInfo:
		return green
	}
	return dim
}

func (h *lineHandler) paint(out *bytes.Buffer, color, text string) {
	if !h.color {
		out.WriteString(text)
		return
	}
	out.WriteString(color + text + reset)
}
