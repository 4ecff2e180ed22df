package checkpoints

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/bot/texts"
	"parley/routing"
	"parley/sessions"
)

// How much a checkpoint looks at: the newest of what was said. Older entries of
// its range are left out.
const (
	saidRunes     = 24_000 // of all texts
	saidLineRunes = 2_000  // of one text
	saidNameRunes = 80
	saidEntries   = 4_000 // entries of the log that are read
)

// recent is what was said in a session since its last checkpoint.
type recent struct {
	lines   []agent.CheckpointLine // oldest first; empty: nothing was said
	leftOut int64                  // how many older entries were not looked at
}

// readSaid reads the log backwards until it has all of the range, or enough.
func readSaid(ctx context.Context, log sessions.Log, record sessions.Record, zone *time.Location) (recent, error) {
	var out recent
	group := record.Source.Type == sessions.Group
	from, room := record.Checked()+1, saidRunes
	oldest := max(from, record.Seq-saidEntries+1)
	next := record.Seq // the newest one that was not looked at
	for full := false; next >= oldest && !full; {
		entries, err := log.Range(ctx, record.ID, max(oldest, next-sessions.TailMax+1), next)
		if err != nil {
			return recent{}, err
		}
		next = max(oldest, next-sessions.TailMax+1) - 1
		for _, entry := range slices.Backward(entries) {
			line, is := saidLine(entry, group, zone)
			if !is {
				continue
			}
			if room -= len([]rune(line.Text)); room < 0 {
				next, full = entry.Seq, true
				break
			}
			out.lines = append(out.lines, line)
		}
	}
	slices.Reverse(out.lines)
	out.leftOut = max(0, next-from+1)
	return out, nil
}

// saidLine is an entry as a checkpoint reads it; false: nothing was said with
// it. Pure.
func saidLine(entry sessions.Entry, group bool, zone *time.Location) (agent.CheckpointLine, bool) {
	line := agent.CheckpointLine{Time: entry.Time.In(zone).Format("2006-01-02 15:04 -07:00")}
	if entry.Type == sessions.EntryCustomMessage {
		var m sessions.CustomMessage
		if json.Unmarshal(entry.Payload, &m) == nil {
			line.Role, line.Name, line.Text = agent.SaidByProgram, texts.Cut(m.Name, saidNameRunes), m.Text
		}
	} else if m, err := entry.Message(); err == nil {
		line.Role, line.Name, line.Text = saidBy(m, group)
	}
	line.Text = texts.Cut(strings.TrimSpace(line.Text), saidLineRunes)
	return line, line.Text != ""
}

// saidBy is who said a message, and what; the text is empty of what nobody saw.
func saidBy(m sessions.Message, group bool) (role, name, text string) {
	switch m.Role {
	case sessions.RoleUser:
		text = m.Text
		if len(m.Attachments) > 0 {
			text = "(with " + texts.Join(texts.Kinds(m.Attachments)) + ") " + text
		}
		if m.Forwarded != nil || m.Via != "" {
			text = "(somebody else's words, passed on) " + text
		}
		if m.Sender != nil {
			name = texts.Cut(cmp.Or(strings.TrimSpace(m.Sender.Name), m.Sender.ID), saidNameRunes)
		}
		return agent.SaidByPerson, name, text
	case sessions.RoleAssistant:
		if shown, silent, _ := routing.StripReply(m.Text, group); !silent && !m.Silent {
			text = shown
		}
		return agent.SaidByAssistant, "", text
	case sessions.RoleTool:
	}
	return "", "", ""
}
