package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usageError is a command line that cannot be meant as it is.
type usageError struct{ error }

// Unwrap gives what was wrong.
func (e usageError) Unwrap() error { return e.error }

// isUsage reports whether a command line was wrong. Of flags that are missing,
// or exclude one another, cobra tells by text alone.
func isUsage(err error) bool {
	_, wrong := errors.AsType[usageError](err)
	return wrong || strings.HasPrefix(err.Error(), "required flag(s)") || strings.HasPrefix(err.Error(), "if any flags in the group")
}

// suggestMax is how many letters a word may be away from what was meant.
const suggestMax = 2

// explainUsage makes a command, and those below it, say what a wrong command
// line may have meant.
func explainUsage(command *cobra.Command) {
	command.SuggestionsMinimumDistance = suggestMax
	if check := command.Args; check != nil {
		command.Args = func(command *cobra.Command, args []string) error {
			err := check(command, args)
			switch {
			case err == nil:
				return nil
			case command.HasSubCommands() && len(args) > 0:
				err = unknown(command, args[0])
			}
			return usageError{err}
		}
	}
	for _, below := range command.Commands() {
		explainUsage(below)
	}
}

func unknown(command *cobra.Command, word string) error {
	path := command.CommandPath()
	if meant := command.SuggestionsFor(word); len(meant) > 0 {
		return fmt.Errorf("there is no command %q; did you mean `%s %s`?", word, path, meant[0])
	}
	return fmt.Errorf("there is no command %q; `%s --help` lists what there is", word, path)
}
