package sessionscli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/datafolder"
	"parley/sessions"
	"parley/sessions/transcript"
)

// standard stands for the standard input or output in place of a file.
const standard = "-"

func (p command) sessionsExport(flags *cli.Flags) *cobra.Command {
	force := false
	command := &cobra.Command{Use: "export ID [FILE]", Short: "Write a conversation as JSON Lines, to the output or a file", Args: cobra.RangeArgs(1, 2),
		RunE: func(command *cobra.Command, args []string) error {
			file := standard
			if len(args) == 2 {
				file = args[1]
			}
			return p.withSessions(command.Context(), flags, true, func(ctx context.Context, place Place) error {
				return p.exportSession(ctx, flags, place, args[0], file, force)
			})
		}}
	command.Flags().BoolVar(&force, "force", false, "replace the file if it is there")
	return command
}

func (p command) exportSession(ctx context.Context, flags *cli.Flags, place Place, id, file string, force bool) error {
	if file == standard {
		return p.exportError(id, place.Export(ctx, id, cli.Escaped(p.Out)))
	}
	if _, err := os.Lstat(file); err == nil && !force {
		return fmt.Errorf("%s is there already; give --force to replace it", file)
	}
	if err := datafolder.ReplaceFile(file, func(w io.Writer) error { return place.Export(ctx, id, w) }); err != nil {
		return p.exportError(id, err)
	}
	return p.Report(flags, id, "export", "is exported to "+file)
}

func (p command) exportError(id string, err error) error {
	if err == nil {
		return nil
	}
	return p.sessionError(id, err)
}

func (p command) sessionsImport(flags *cli.Flags) *cobra.Command {
	newID, check := false, false
	command := &cobra.Command{Use: "import FILE", Short: "Make a conversation of a transcript, all of it or nothing (- reads the input)", Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return p.withTranscript(args[0], func(in transcriptFile) error {
				return p.withSessions(command.Context(), flags, check, func(ctx context.Context, place Place) error {
					if check {
						return p.checkTranscript(ctx, flags, place, in, newID)
					}
					return p.importSession(ctx, flags, place, in, newID)
				})
			})
		}}
	command.Flags().BoolVar(&newID, "new-id", false, "give it an id of its own, as when its own is taken")
	command.Flags().BoolVar(&check, "check", false, "only say whether it could be imported")
	return command
}

// transcriptFile is a transcript that can be read, more than once if it is a
// file.
type transcriptFile struct {
	name string
	io.Reader
	file *os.File // nil: the input
}

func (p command) withTranscript(name string, use func(transcriptFile) error) error {
	if name == standard {
		return use(transcriptFile{name: "the input", Reader: p.In})
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("cannot read the transcript: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; name a transcript, as `gateway sessions export` writes it", name)
	}
	return use(transcriptFile{name: name, Reader: file, file: file})
}

func (t transcriptFile) failed(err error) error {
	if _, ok := errors.AsType[*transcript.Error](err); ok {
		return fmt.Errorf("%s cannot be imported, and nothing of it was: %w", t.name, err)
	}
	return err
}

func (p command) checkTranscript(ctx context.Context, flags *cli.Flags, place Place, in transcriptFile, newID bool) error {
	record, entries, err := transcript.Check(in)
	if err != nil {
		return in.failed(err)
	}
	if !newID {
		if _, err := place.Session(ctx, record.ID); err == nil {
			return taken(record.ID)
		} else if !errors.Is(err, sessions.ErrNotFound) {
			return err
		}
	}
	if flags.AsJSON {
		return p.PrintJSON(map[string]any{"id": record.ID, "entries": entries})
	}
	_, err = fmt.Fprintf(p.Out, "✓ %s is in order: %s with %d entries\n", in.name, clean(record.ID), entries)
	return err
}

func taken(id string) error {
	if id == "" {
		return errors.New("there is a conversation of the transcript's id already; give --new-id to import this one beside it")
	}
	return fmt.Errorf("there is a conversation %q already; give --new-id to import this one beside it", id)
}

// importSession checks a file before any of it is sent, so that what is wrong
// is said at once.
func (p command) importSession(ctx context.Context, flags *cli.Flags, place Place, in transcriptFile, newID bool) error {
	id := ""
	if in.file != nil {
		record, _, err := transcript.Check(in)
		if err == nil {
			_, err = in.file.Seek(0, io.SeekStart)
		}
		if err != nil {
			return in.failed(err)
		}
		id = record.ID
	}
	made, err := place.Import(ctx, in.Reader, newID)
	if errors.Is(err, sessions.ErrConflict) {
		return taken(id)
	}
	if err != nil {
		return in.failed(err)
	}
	return p.made(flags, made.ID, fmt.Sprintf("imported with %d entries; `gateway sessions show %s` shows it", made.Seq, made.ID))
}
