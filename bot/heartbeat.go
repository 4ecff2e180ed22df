package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"parley/adapters"
	"parley/scheduler"
	"parley/sessions"
)

// Heartbeat is a turn in a chat's own conversation from time to time, in which
// the agent looks whether there is anything to say. It is a schedule of the
// configuration, called HeartbeatID.
type Heartbeat struct {
	Every time.Duration // 0: there is none
	Chat  string        // surface key
	// File is a checklist in Markdown, read anew each time. Empty: none. While
	// there is nothing in it but headings, no model is asked.
	File string
}

// HeartbeatID is the id of the heartbeat's schedule.
const HeartbeatID = "heartbeat"

const heartbeatPrompt = "Heartbeat: look through your checklist and this conversation. If something needs to be said or done now, say it briefly."

// definition is the heartbeat as a schedule.
func (h Heartbeat) definition() scheduler.Definition {
	return scheduler.Definition{
		ID: HeartbeatID, Every: h.Every.String(), Prompt: heartbeatPrompt, In: h.Chat, DeliverTo: []string{h.Chat},
		Missed: scheduler.MissedSkip,
	}
}

// preparePrompt fills in what of a prompt is only known when it is posted:
// what the session of another surface begins with, and the checklist.
// sessions.ErrNothing: there is nothing to ask.
func (s *schedules) preparePrompt(ctx context.Context, plan *scheduler.Plan, request *sessions.PostRequest) error {
	if plan.In == "" {
		return nil
	}
	surface, err := adapters.ParseSurface(plan.In)
	if err != nil {
		return &sessions.InvalidError{What: "surface", Why: err.Error()}
	}
	if request.New, err = s.begins(ctx, surface); err != nil {
		return err
	}
	request.Message.Group = request.New.Source.Type == sessions.Group
	if plan.ID != HeartbeatID || plan.By != scheduler.ByConfig || s.heartbeat.File == "" {
		return nil
	}
	list, err := checklist(s.heartbeat.File)
	if err != nil {
		return err
	}
	request.Message.Text += "\n\nChecklist:\n\n" + list
	return nil
}

// checklist reads the file. sessions.ErrNothing: there is nothing in it.
func checklist(path string) (string, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", sessions.ErrNothing
	}
	if err != nil {
		return "", &sessions.InvalidError{What: "checklist", Why: err.Error()}
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, scheduler.PromptMax+1))
	switch {
	case err != nil:
		return "", &sessions.InvalidError{What: "checklist", Why: err.Error()}
	case len(text) > scheduler.PromptMax:
		return "", &sessions.InvalidError{What: "checklist", Why: fmt.Sprintf("%s has more than %d bytes", path, scheduler.PromptMax)}
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return strings.ToValidUTF8(string(text), "\uFFFD"), nil
		}
	}
	return "", sessions.ErrNothing
}
