package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/config"
	"parley/cmd/gateway/datafolder"
	"parley/cmd/gateway/marks"
	"parley/cmd/gateway/wiring"
	"parley/sessions"
	"parley/sessions/archive"
)

// keysFor is how long a dedupe key still has to be good to be compared: a
// migration takes less.
const keysFor = 24 * time.Hour

type migrateFlags struct{ from, to config.URL }

// command is the command, with what it touches of its process.
type command struct{ *cli.Env }

// Command is `gateway migrate`.
func Command(e *cli.Env, flags *cli.Flags) *cobra.Command {
	p := command{e}
	var from, to string
	command := &cobra.Command{Use: "migrate --from URL --to URL", Short: "Copy everything from one store into another",
		Long: "Copy everything from one store into another, empty one: conversations, people, what waits, schedules, timers and what is on its way.\n" +
			"No gateway may run on either. Both are counted and compared in the end. A migration that was ended goes on where it was\n" +
			"when the same command is given again.\n" +
			"Every user of a machine can read its command lines: give an address with a password as env:NAME (a variable that holds it)\n" +
			"or file:PATH (a file that does).",
		Example: "  gateway migrate --from sqlite://./data/gateway.db --to redis://127.0.0.1:6379/0",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			stores, err := p.stores(from, to)
			if err != nil {
				return err
			}
			return p.migrate(command.Context(), flags, stores)
		}}
	command.Flags().StringVar(&from, "from", "", "address of the store that has everything, or env:NAME, or file:PATH")
	command.Flags().StringVar(&to, "to", "", "address of the store that gets it, in the same ways")
	for _, name := range []string{"from", "to"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err) // the flag was made above
		}
	}
	return command
}

// addressMax bounds a file that holds an address.
const addressMax = 4096

// stores reads the two addresses.
func (p command) stores(from, to string) (stores migrateFlags, err error) {
	if stores.from, err = p.address("from", from); err != nil {
		return stores, err
	}
	stores.to, err = p.address("to", to)
	return stores, err
}

// address is a store's: as it is given, or where it is said to be. A password
// does not have to stand on the command line.
func (p command) address(flag, given string) (config.URL, error) {
	if name, ok := strings.CutPrefix(given, "env:"); ok {
		address, set := p.Lookup(name)
		if !set || address == "" {
			return "", fmt.Errorf("--%s: the variable %s is not set", flag, name)
		}
		return config.URL(address), nil
	}
	path, ok := strings.CutPrefix(given, "file:")
	if !ok {
		return config.URL(given), nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--%s: cannot read the address: %w", flag, err)
	}
	if len(content) > addressMax {
		return "", fmt.Errorf("--%s: %s is too large to be an address", flag, path)
	}
	return config.URL(strings.TrimSpace(string(content))), nil
}

func (p command) migrate(ctx context.Context, flags *cli.Flags, stores migrateFlags) error {
	if stores.from == stores.to {
		return errors.New("--from and --to are the same store")
	}
	loaded, err := p.Load(flags)
	if err != nil {
		return err
	}
	c := loaded.Config
	if c.Store.URL = stores.from; wiring.NotMadeYet(c) {
		return fmt.Errorf("there is no store %s; check --from", stores.from)
	}
	owner := marks.ReplicaName() + "-migrate"
	return p.withIdle(ctx, c, stores.from, owner, func(ctx context.Context, from sessions.Store) error {
		return p.withIdle(ctx, c, stores.to, owner, func(ctx context.Context, to sessions.Store) error {
			if err := datafolder.Make(c.Data); err != nil {
				return err
			}
			m := &migration{command: p, stores: stores, from: from, to: to, file: ProgressPath(c.Data), asJSON: flags.AsJSON, shown: time.Now()}
			return m.run(ctx)
		})
	})
}

// withIdle opens a store that no gateway uses, and keeps gateways away from it.
func (p command) withIdle(ctx context.Context, c config.Config, url config.URL, owner string, use func(context.Context, sessions.Store) error) error {
	c.Store.URL = url
	store, err := wiring.OpenStore(ctx, c, slog.New(slog.DiscardHandler))
	if errors.Is(err, sessions.ErrLocked) {
		return fmt.Errorf("cannot migrate while %s is in use: %w; stop it first", url, marks.ErrMarked)
	}
	if err != nil {
		return wiring.StoreError(url, err)
	}
	if !marks.Shared(url) {
		return errors.Join(use(ctx, store), store.Close())
	}
	err = marks.HoldAlone(ctx, store, owner, func(ctx context.Context) error { return use(ctx, store) })
	if errors.Is(err, marks.ErrMarked) {
		err = fmt.Errorf("cannot migrate while %s is in use: %w; stop it, wait %s, and try again", url, marks.ErrMarked, sessions.LeaseFor)
	}
	return errors.Join(err, store.Close())
}

// migration is one run of `gateway migrate`.
type migration struct {
	command
	stores   migrateFlags
	from, to sessions.Store
	file     string // where the progress is kept
	asJSON   bool
	shown    time.Time // when progress was shown last
}

// Migrated is what a migration has done.
type Migrated struct {
	From   string       `json:"from"`
	To     string       `json:"to"`
	Counts []kindCounts `json:"counts"`
}

type kindCounts struct {
	Kind     sessions.ItemKind `json:"kind"`
	Items    int64             `json:"items"`
	Checksum string            `json:"checksum"`
}

func (m *migration) run(ctx context.Context) error {
	before, err := m.begin(ctx)
	if err != nil {
		return err
	}
	lasting := time.Now().Add(keysFor)
	held, err := archive.Measure(ctx, m.from, lasting, archive.CopyOptions{Leave: leftBehind, Step: m.step("counting", 0)})
	if err != nil {
		return m.ended(ctx, err)
	}
	all := held.Items()
	if err := m.copy(ctx, before, all); err != nil {
		return m.ended(ctx, err)
	}
	got, err := archive.Measure(ctx, m.to, lasting, archive.CopyOptions{Leave: leftBehind, Step: m.step("comparing", all)})
	if err != nil {
		return m.ended(ctx, err)
	}
	m.overwrite("")
	if err := held.Same(got); err != nil {
		return fmt.Errorf("the copy differs: %w; the new store must not be used: empty it, remove %s, and migrate again", err, m.file)
	}
	if err := datafolder.Remove(m.file); err != nil {
		return err
	}
	return m.tell(held)
}

// begin finds where to begin: behind what an ended migration of the same
// stores has copied, else at the beginning of an empty store.
func (m *migration) begin(ctx context.Context) (progress, error) {
	before, found, err := ReadProgress(m.file)
	if err != nil {
		return before, err
	}
	mine := m.stores.progress()
	if found && before.Stores == mine.Stores {
		fmt.Fprintf(m.Err, "going on behind %d items\n", before.Done)
		return before, nil
	}
	there, err := holdsAnything(ctx, m.to)
	if err != nil {
		return before, err
	}
	if there {
		return before, fmt.Errorf("the store %s is not empty; migrate into an empty one", m.stores.to)
	}
	return mine, nil
}

// holdsAnything reports whether a store has anything that is migrated.
func holdsAnything(ctx context.Context, store sessions.Store) (bool, error) {
	enough := errors.New("enough")
	err := archive.Copy(ctx, store, found{enough}, archive.CopyOptions{Leave: leftBehind})
	if errors.Is(err, enough) {
		return true, nil
	}
	return false, err
}

// found is an archive that ends a copy with its first item.
type found struct{ err error }

// Dump has nothing.
func (found) Dump(context.Context, string, int) ([]sessions.Item, string, error) { return nil, "", nil }

// Restore ends the copy.
func (f found) Restore(context.Context, []sessions.Item) error { return f.err }

func (m *migration) copy(ctx context.Context, before progress, all int64) error {
	show := m.step("copying", all)
	options := archive.CopyOptions{Cursor: before.Cursor, Leave: leftBehind, Step: func(done int64, cursor string) error {
		if cursor == "" {
			return nil // the whole is compared next; until then the last step may be made again
		}
		if err := writeProgress(m.file, progress{Stores: before.Stores, Cursor: cursor, Done: before.Done + done}); err != nil {
			return err
		}
		return show(before.Done+done, cursor)
	}}
	return archive.Copy(ctx, m.from, m.to, options)
}

// leftBehind are rights without a text: who held them holds nothing any more.
func leftBehind(item sessions.Item) bool {
	var lock archive.LockItem
	return item.Kind == archive.ItemLock && json.Unmarshal(item.Body, &lock) == nil && lock.Data == ""
}

// ended is a migration that did not come to its end.
func (m *migration) ended(ctx context.Context, err error) error {
	m.overwrite("")
	if ctx.Err() != nil && errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), context.Canceled) {
		return errors.New("ended before everything was copied; give the same command again to go on")
	}
	return fmt.Errorf("%w; give the same command again to go on", err)
}

// showEvery is how often progress is shown: on a terminal in place, else a
// line.
const (
	showEvery     = 200 * time.Millisecond
	showLineEvery = 10 * time.Second
)

// step shows how far it is; all is 0 while that is not known.
func (m *migration) step(what string, all int64) func(int64, string) error {
	return func(done int64, _ string) error {
		text := fmt.Sprintf("%s %d", what, done)
		if all > 0 {
			text += fmt.Sprintf(" of about %d (%d %%)", all, min(100*done/all, 100))
		}
		switch since := time.Since(m.shown); {
		case m.asJSON:
		case m.IsTerminal(m.Err) && since >= showEvery:
			m.shown = time.Now()
			m.overwrite(text)
		case !m.IsTerminal(m.Err) && since >= showLineEvery:
			m.shown = time.Now()
			fmt.Fprintln(m.Err, text)
		}
		return nil
	}
}

func (m *migration) overwrite(text string) {
	if m.IsTerminal(m.Err) && !m.asJSON {
		fmt.Fprint(m.Err, "\r\x1b[K"+text)
	}
}

func (m *migration) tell(held archive.Tally) error {
	result := Migrated{From: m.stores.from.String(), To: m.stores.to.String(), Counts: []kindCounts{}}
	for _, kind := range held.Kinds() {
		result.Counts = append(result.Counts, kindCounts{kind, held[kind].Items, held[kind].Sum.String()})
	}
	if m.asJSON {
		return m.PrintJSON(result)
	}
	table := tabwriter.NewWriter(m.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KIND\tITEMS\tCHECKSUM")
	for _, count := range result.Counts {
		fmt.Fprintf(table, "%s\t%d\t%.16s\n", count.Kind, count.Items, count.Checksum)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(m.Out, "✓ both stores hold the same; set store.url to %s and start the gateway\n", m.stores.to)
	return err
}
