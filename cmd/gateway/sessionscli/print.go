package sessionscli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/logging"
	"parley/sessions"
	"parley/sessions/view"
)

// printPage is how many sessions are asked for at a time.
const printPage = 200

// listSessions prints sessions as a table.
func (p command) listSessions(ctx context.Context, place Place, list listFlags, asJSON bool) error {
	if list.limit < 1 {
		return errors.New("--limit must be at least 1")
	}
	found, err := findAll(ctx, place, list.query(time.Now()), list.limit)
	if err != nil {
		return err
	}
	if asJSON {
		return p.PrintJSON(found)
	}
	if len(found.Sessions) == 0 {
		return p.printNone(list)
	}
	if err := p.printSessions(found.Sessions); err != nil {
		return err
	}
	if found.Next != "" {
		fmt.Fprintf(p.Err, "there are more; --limit %d shows twice as many\n", 2*list.limit)
	}
	return nil
}

// findAll follows the pages until limit.
func findAll(ctx context.Context, place Place, query sessions.Query, limit int) (client.Found, error) {
	all := client.Found{Sessions: []client.Session{}}
	for {
		query.Limit = min(limit-len(all.Sessions), printPage)
		page, err := place.Find(ctx, query)
		if err != nil {
			return all, err
		}
		all.Sessions, all.Next = append(all.Sessions, page.Sessions...), page.Next
		if page.Next == "" || len(all.Sessions) >= limit {
			return all, nil
		}
		query.Cursor = page.Next
	}
}

func (p command) printNone(list listFlags) error {
	text := "no conversations"
	if !list.all && len(list.states) == 0 {
		text += "; --all shows suspended and expired ones too"
	}
	_, err := fmt.Fprintln(p.Out, text)
	return err
}

func (p command) printSessions(found []client.Session) error {
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATE\tMESSAGES\tACTIVITY\tABOUT")
	for _, s := range found {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", clean(s.ID), stateWord(s), s.MessageCount, local(s.LastActivityAt), clean(about(s)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return p.printCut(rows.String())
}

// printCut prints lines, on a terminal no longer than it is wide.
func (p command) printCut(text string) error {
	width, _ := cli.Size(p.Out)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if p.IsTerminal(p.Out) && utf8.RuneCountInString(line) > width {
			line = string([]rune(line)[:width-1]) + "…"
		}
		if _, err := fmt.Fprintln(p.Out, line); err != nil {
			return err
		}
	}
	return nil
}

func clean(text string) string { return logging.Visible(logging.Redact(text)) }

func local(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Local().Format("2006-01-02 15:04")
}

// stateWord is the state, or what the session is doing.
func stateWord(s client.Session) string {
	switch s.Status {
	case sessions.StatusRunning:
		return "running"
	case sessions.StatusAwaiting:
		return "awaiting"
	case sessions.StatusIdle, sessions.StatusInactive:
	}
	return string(s.State)
}

func about(s client.Session) string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Description != "":
		return s.Description
	}
	return s.Preview
}

// ShownSession is what `sessions show --json` prints.
type ShownSession struct {
	Session client.Session  `json:"session"`
	Feed    []view.FeedItem `json:"feed"`
}

func (p command) showSession(ctx context.Context, place Place, id string, last int, asJSON bool) error {
	session, err := place.Session(ctx, id)
	if err != nil {
		return p.sessionError(id, err)
	}
	feed, err := recent(ctx, place, id, last)
	if err != nil {
		return p.sessionError(id, err)
	}
	if asJSON {
		return p.PrintJSON(ShownSession{session, feed})
	}
	title := clean(session.ID)
	if p.Color(p.Out) {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	fmt.Fprintf(p.Out, "%s  %s, %s\n", title, session.State, session.Status)
	for _, row := range recordRows(session) {
		fmt.Fprintf(p.Out, "  %-13s %s\n", row[0], clean(row[1]))
	}
	if len(feed) == 0 {
		return nil
	}
	var lines strings.Builder
	lines.WriteByte('\n')
	for _, item := range feed {
		fmt.Fprintf(&lines, "  %s  %s\n", local(item.Time), clean(feedLine(item)))
	}
	return p.printCut(lines.String())
}

// recent are the newest items, each as it is now. Some entries have none, so
// more are read than are shown.
func recent(ctx context.Context, place Place, id string, last int) ([]view.FeedItem, error) {
	items := []view.FeedItem{}
	if last <= 0 {
		return items, nil
	}
	last = min(last, sessions.EntriesPerCall)
	read, err := place.Feed(ctx, id, min(4*last, sessions.EntriesPerCall))
	for _, item := range read {
		same := func(i view.FeedItem) bool { return i.ID == item.ID }
		if at := slices.IndexFunc(items, same); at >= 0 {
			items[at] = item
			continue
		}
		items = append(items, item)
	}
	return items[max(0, len(items)-last):], err
}

// recordRows are the fields of a record that have something to say.
func recordRows(s client.Session) [][2]string {
	rows := [][2]string{
		{"name", s.Name}, {"about", s.Description}, {"source", sourceWord(s.Source)}, {"of", s.UserID}, {"people", strings.Join(s.Participants, ", ")},
		{"surfaces", strings.Join(s.Surfaces, ", ")}, {"workspace", s.WorkspaceID}, {"agent", s.Agent}, {"forked from", s.ParentSession},
		{"begun", local(s.CreatedAt)}, {"activity", local(s.LastActivityAt)}, {"counts", counts(s)}, {"stands at", s.Leaf},
		{"metadata", metadata(s.Metadata)}, {"memory", s.WorkingMemory},
	}
	return slices.DeleteFunc(rows, func(row [2]string) bool { return row[1] == "" })
}

func sourceWord(s sessions.Source) string {
	words := slices.DeleteFunc([]string{s.Kind, s.Platform, string(s.Type)}, func(word string) bool { return word == "" })
	return strings.Join(slices.Compact(words), ", ")
}

func counts(s client.Session) string {
	text := fmt.Sprintf("%d messages, %d turns, %d entries", s.MessageCount, s.TurnCount, s.Seq-s.Cleared)
	if s.Queued > 0 {
		text += fmt.Sprintf(", %d waiting", s.Queued)
	}
	if s.ContextTokens > 0 {
		text += fmt.Sprintf(", %d tokens of context", s.ContextTokens)
	}
	return text
}

func metadata(values map[string]any) string {
	words := make([]string, 0, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		encoded, err := json.Marshal(values[key])
		if text, ok := values[key].(string); ok {
			encoded = []byte(text)
		}
		if err == nil {
			words = append(words, key+"="+string(encoded))
		}
	}
	return strings.Join(words, " ")
}

func feedLine(item view.FeedItem) string {
	label := item.Label
	switch item.Type {
	case view.FeedTool:
		label = "⚙ " + label
	case view.FeedToolSuccess:
		label = "✓ " + label
	case view.FeedToolError, view.FeedError:
		label = "✗ " + label
	case view.FeedEvent, view.FeedHandoff, view.FeedResume, view.FeedRepair, view.FeedActivation:
		label = "· " + label
	case view.FeedAssistant, view.FeedUser:
	}
	text := strings.Join(strings.Fields(item.Text), " ")
	for _, file := range item.Attachments {
		text = strings.TrimSpace(text + " (" + file.Kind + ")")
	}
	if text == "" {
		return label
	}
	return label + ": " + text
}

func (p command) drawSession(ctx context.Context, place Place, id string, limit int, asJSON bool) error {
	if limit < 1 || limit > view.TreeMax {
		return fmt.Errorf("--limit must be 1 to %d", view.TreeMax)
	}
	tree, err := place.Tree(ctx, id, limit)
	if err != nil {
		return p.sessionError(id, err)
	}
	if asJSON {
		return p.PrintJSON(tree)
	}
	width, _ := cli.Size(p.Out)
	_, err = fmt.Fprint(p.Out, tree.Draw(view.Drawing{Width: width, Lines: limit}))
	return err
}
