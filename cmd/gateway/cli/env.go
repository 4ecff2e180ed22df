package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"parley/cmd/gateway/client"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/datafolder"
	"parley/cmd/gateway/logging"
	"parley/internal/localzone"
	"parley/sessions"
)

// Flags are the flags of every command.
type Flags struct {
	File   string // --config
	AsJSON bool   // --json
}

// Env is everything that a command touches of its process.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string       // as os.Environ
	Lookup   config.Environ // of the same
	Dir      string         // the working directory; empty: not known
	Version  string
}

// Workspace is the working directory as the workspace of terminal
// conversations; empty where its name cannot be one.
func (p *Env) Workspace() string {
	if sessions.CheckWorkspace(p.Dir) != nil {
		return ""
	}
	return p.Dir
}

// ErrReported ends the program with a failure that the output has told already.
var ErrReported = errors.New("reported")

// IsTerminal reports whether a stream of the program is a terminal that knows
// more than plain text.
func (p *Env) IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	name, _ := p.Lookup("TERM")
	return ok && term.IsTerminal(file.Fd()) && name != "dumb"
}

// Color reports whether a stream may be written in colour.
func (p *Env) Color(stream any) bool {
	refused, _ := p.Lookup("NO_COLOR")
	return refused == "" && p.IsTerminal(stream)
}

// Size is the terminal's, or the usual one where it does not say.
func Size(stream any) (width, height int) {
	if file, ok := stream.(*os.File); ok {
		if width, height, err := term.GetSize(file.Fd()); err == nil && width > 0 && height > 0 {
			return width, height
		}
	}
	return 80, 24
}

// Load reads the configuration that the flags and the environment name.
func (p *Env) Load(flags *Flags) (config.Loaded, error) {
	return config.Load(flags.File, p.Lookup)
}

// Logger makes the logger that the configuration asks for, on the error output.
func (p *Env) Logger(c config.Log) *slog.Logger {
	return logging.New(p.Err, logging.Options{
		Level: Level(c.Level),
		JSON:  c.Format == config.FormatJSON || c.Format == config.FormatAuto && !p.IsTerminal(p.Err),
		Color: p.Color(p.Err),
		Text:  c.Text,
	})
}

// Level is the level of slog that a configured one means.
func Level(l config.LogLevel) slog.Level {
	switch l {
	case config.LevelDebug:
		return slog.LevelDebug
	case config.LevelWarn:
		return slog.LevelWarn
	case config.LevelError:
		return slog.LevelError
	case config.LevelInfo:
	}
	return slog.LevelInfo
}

// PrintJSON prints a value for machines. What would steer a terminal is escaped.
func (p *Env) PrintJSON(value any) error {
	encoder := json.NewEncoder(Escaped(p.Out))
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// Report says what was done to something, in words or as JSON.
func (p *Env) Report(flags *Flags, id, verb, done string) error {
	if flags.AsJSON {
		return p.PrintJSON(map[string]string{"id": id, "done": verb})
	}
	_, err := fmt.Fprintln(p.Out, Printable(id), done)
	return err
}

// Sure asks at a terminal whether what cannot be undone shall be done.
func (p *Env) Sure(yes bool, what string) error {
	if yes {
		return nil
	}
	if !p.IsTerminal(p.In) || !p.IsTerminal(p.Out) {
		return fmt.Errorf("this would %s; give --yes if that is meant", what)
	}
	fmt.Fprintf(p.Out, "This will %s. Type yes to go on: ", what)
	answer := make([]byte, 16)
	n, _ := p.In.Read(answer) // no answer is no yes
	if strings.TrimSpace(string(answer[:n])) != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}

// Running finds the gateway that runs on this machine and answers.
func (p *Env) Running(ctx context.Context, data string) (file datafolder.RunFile, found bool, err error) {
	file, found, err = datafolder.ReadRunFile(data)
	if err != nil || !found {
		return file, false, err
	}
	c, err := client.New(file.Address, file.Secret())
	if err != nil {
		return file, false, err
	}
	defer c.Close()
	return file, c.Alive(ctx) == nil, nil // one that was killed leaves its file behind
}

// Printable is text that others wrote, as it may stand on a terminal.
func Printable(text string) string { return logging.Visible(logging.Redact(text)) }

// Zone is the gateway's own time zone: the configured one, else the machine's.
// Where that has no name it is UTC, and said.
func (p *Env) Zone(c config.Config, log *slog.Logger) string {
	if c.Timezone != "" {
		return c.Timezone
	}
	tz, set := p.Lookup("TZ")
	name, known := localzone.Name(tz, set, "/")
	if !known {
		log.Warn("the name of this machine's time zone is not known, so schedules that name none are in UTC; set timezone in the configuration, or TZ", "tz", tz)
		return time.UTC.String()
	}
	return name
}
