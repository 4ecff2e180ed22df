package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"parley/sessions"
)

// standard stands for the standard input or output in place of a file.
const standard = "-"

func (p *program) sessionsExport(flags *common) *cobra.Command {
	force := false
	command := &cobra.Command{Use: "export ID [FILE]", Short: "Write a conversation as JSON Lines, to the output or a file", Args: cobra.RangeArgs(1, 2),
		RunE: func(command *cobra.Command, args []string) error {
			file := standard
			if len(args) == 2 {
				file = args[1]
			}
			return p.withSessions(command.Context(), flags, true, func(ctx context.Context, place sessionPlace) error {
				return p.exportSession(ctx, flags, place, args[0], file, force)
			})
		}}
	command.Flags().BoolVar(&force, "force", false, "replace the file if it is there")
	return command
}

func (p *program) exportSession(ctx context.Context, flags *common, place sessionPlace, id, file string, force bool) error {
	if file == standard {
		return p.exportError(ctx, place, id, place.Export(ctx, id, p.out))
	}
	if _, err := os.Lstat(file); err == nil && !force {
		return fmt.Errorf("%s is there already; give --force to replace it", file)
	}
	if err := replaceFile(file, func(w io.Writer) error { return place.Export(ctx, id, w) }); err != nil {
		return p.exportError(ctx, place, id, err)
	}
	return p.report(flags, id, "export", "is exported to "+file)
}

func (p *program) exportError(ctx context.Context, place sessionPlace, id string, err error) error {
	if err == nil {
		return nil
	}
	return p.sessionError(ctx, place, id, "", err)
}

// replaceFile writes a file whole or not at all. Only its user can read it.
func replaceFile(path string, write func(io.Writer) error) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	err = write(temporary)
	if closing := temporary.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

func (p *program) sessionsImport(flags *common) *cobra.Command {
	newID, check := false, false
	command := &cobra.Command{Use: "import FILE", Short: "Make a conversation of a transcript, all of it or nothing (- reads the input)", Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return p.withTranscript(args[0], func(in transcriptFile) error {
				return p.withSessions(command.Context(), flags, check, func(ctx context.Context, place sessionPlace) error {
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

func (p *program) withTranscript(name string, use func(transcriptFile) error) error {
	if name == standard {
		return use(transcriptFile{name: "the input", Reader: p.in})
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
	if _, ok := errors.AsType[*sessions.TranscriptError](err); ok {
		return fmt.Errorf("%s cannot be imported, and nothing of it was: %w", t.name, err)
	}
	return err
}

func (p *program) checkTranscript(ctx context.Context, flags *common, place sessionPlace, in transcriptFile, newID bool) error {
	record, entries, err := sessions.CheckTranscript(in)
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
	if flags.asJSON {
		return p.printJSON(map[string]any{"id": record.ID, "entries": entries})
	}
	_, err = fmt.Fprintf(p.out, "✓ %s is in order: %s with %d entries\n", in.name, clean(record.ID), entries)
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
func (p *program) importSession(ctx context.Context, flags *common, place sessionPlace, in transcriptFile, newID bool) error {
	id := ""
	if in.file != nil {
		record, _, err := sessions.CheckTranscript(in)
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
