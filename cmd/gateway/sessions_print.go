package main

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

	"parley/cmd/gateway/client"
	"parley/cmd/gateway/logging"
	"parley/sessions"
)

// printPage is how many sessions are asked for at a time.
const printPage = 200

// listSessions prints sessions as a table.
func (p *program) listSessions(ctx context.Context, place sessionPlace, list listFlags, asJSON bool) error {
	if list.limit < 1 {
		return errors.New("--limit must be at least 1")
	}
	found, err := findAll(ctx, place, list.query(time.Now()), list.limit)
	if err != nil {
		return err
	}
	if asJSON {
		return p.printJSON(found)
	}
	if len(found.Sessions) == 0 {
		return p.printNone(list)
	}
	if err := p.printSessions(found.Sessions); err != nil {
		return err
	}
	if found.Next != "" {
		fmt.Fprintf(p.err, "there are more; --limit %d shows twice as many\n", 2*list.limit)
	}
	return nil
}

// findAll follows the pages until limit.
func findAll(ctx context.Context, place sessionPlace, query sessions.Query, limit int) (client.Found, error) {
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

func (p *program) printNone(list listFlags) error {
	text := "no conversations"
	if !list.all && len(list.states) == 0 {
		text += "; --all shows suspended and expired ones too"
	}
	_, err := fmt.Fprintln(p.out, text)
	return err
}

func (p *program) printSessions(found []client.Session) error {
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
func (p *program) printCut(text string) error {
	width, _ := size(p.out)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if p.isTerminal(p.out) && utf8.RuneCountInString(line) > width {
			line = string([]rune(line)[:width-1]) + "…"
		}
		if _, err := fmt.Fprintln(p.out, line); err != nil {
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

// shownSession is what `sessions show --json` prints.
type shownSession struct {
	Session client.Session      `json:"session"`
	Feed    []sessions.FeedItem `json:"feed"`
}

func (p *program) showSession(ctx context.Context, place sessionPlace, id string, last int, asJSON bool) error {
	session, err := place.Session(ctx, id)
	if err != nil {
		return p.sessionError(ctx, place, id, "", err)
	}
	feed, err := recent(ctx, place, id, last)
	if err != nil {
		return p.sessionError(ctx, place, id, "", err)
	}
	if asJSON {
		return p.printJSON(shownSession{session, feed})
	}
	title := clean(session.ID)
	if p.color(p.out) {
		title = "\x1b[1m" + title + "\x1b[0m"
	}
	fmt.Fprintf(p.out, "%s  %s, %s\n", title, session.State, session.Status)
	for _, row := range recordRows(session) {
		fmt.Fprintf(p.out, "  %-13s %s\n", row[0], clean(row[1]))
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
func recent(ctx context.Context, place sessionPlace, id string, last int) ([]sessions.FeedItem, error) {
	items := []sessions.FeedItem{}
	if last <= 0 {
		return items, nil
	}
	last = min(last, sessions.EntriesPerCall)
	read, err := place.Feed(ctx, id, min(4*last, sessions.EntriesPerCall))
	for _, item := range read {
		same := func(i sessions.FeedItem) bool { return i.ID == item.ID }
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

func feedLine(item sessions.FeedItem) string {
	label := item.Label
	switch item.Type {
	case sessions.FeedTool:
		label = "⚙ " + label
	case sessions.FeedToolSuccess:
		label = "✓ " + label
	case sessions.FeedToolError, sessions.FeedError:
		label = "✗ " + label
	case sessions.FeedEvent, sessions.FeedHandoff, sessions.FeedResume, sessions.FeedRepair, sessions.FeedActivation:
		label = "· " + label
	case sessions.FeedAssistant, sessions.FeedUser:
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

func (p *program) drawSession(ctx context.Context, place sessionPlace, id string, limit int, asJSON bool) error {
	if limit < 1 || limit > sessions.TreeMax {
		return fmt.Errorf("--limit must be 1 to %d", sessions.TreeMax)
	}
	tree, err := place.Tree(ctx, id, limit)
	if err != nil {
		return p.sessionError(ctx, place, id, "", err)
	}
	if asJSON {
		return p.printJSON(tree)
	}
	width, _ := size(p.out)
	_, err = fmt.Fprint(p.out, tree.Draw(sessions.Drawing{Width: width, Lines: limit}))
	return err
}
