package bot

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"parley/adapters"
	"parley/bot/delivery"
	"parley/bot/turns"
	"parley/routing"
	"parley/scheduler"
	"parley/sessions"
)

// scheduled is the kind of turn that answers the prompt of a schedule: its
// answer goes where the schedule says, and its end is reported in the log, in
// the same step.
type scheduled struct {
	*schedules
	attempt string         // the prompt's message id
	job     *scheduler.Job // what the schedule wants; nil: that is not known, or nothing is asked
}

// kindOf gives turns their kind. Nil: a chat's.
func (s *schedules) kindOf(turn *turns.Turn) turns.Kind {
	if len(turn.Prompts) != 1 || turn.Prompts[0].Decision != scheduler.Decision || scheduler.IDOf(turn.Prompts[0].MessageID) == "" {
		return nil
	}
	return &scheduled{schedules: s, attempt: turn.Prompts[0].MessageID}
}

// Think asks the model, unless the schedule has gone on meanwhile or has an
// answer that only has to be delivered.
func (s *scheduled) Think(ctx context.Context, turn *turns.Turn) (sessions.CommitRequest, error) {
	job, err := s.Job(ctx, scheduler.IDOf(s.attempt), s.attempt)
	var end sessions.CommitRequest
	switch {
	case errors.Is(err, scheduler.ErrOvertaken):
		return s.report(end, scheduler.Report{Result: scheduler.Overtaken})
	case err != nil:
		end, err = turns.Unread(ctx, err)
	case job.Answer != nil:
		return s.resend(job)
	default:
		s.job = &job
		end, err = turn.Answer(ctx, turns.Manner{System: "\n\n" + scheduledPrompt(job), Unseen: true})
	}
	if err != nil {
		return end, err
	}
	return s.deliver(turn, end, job)
}

// Stored copies the answer into the sessions of the surfaces that it goes to:
// whoever answers to it finds it in the conversation.
func (s *scheduled) Stored(_ *turns.Turn, entries []sessions.Entry) {
	ctx, cancel := s.life.Call()
	defer cancel()
	for _, entry := range entries {
		m, err := entry.Message()
		if err != nil || m.Role != sessions.RoleAssistant || m.Silent || m.Partial || s.job == nil {
			continue
		}
		for _, surface := range s.job.Targets {
			if err := s.copyAnswer(ctx, scheduler.NewCopy(s.job.Plan, s.job.Run, surface, entry)); err != nil {
				s.log.Warn("an answer of a schedule could not be stored where it is sent; it is tried again", "schedule", s.job.Plan.ID, "surface", surface, "error", err)
			}
		}
	}
	s.look(s.attempt)
}

// report ends a turn with its report. What failed is tried again by the
// schedule, not as a dead letter.
func (s *scheduled) report(end sessions.CommitRequest, report scheduler.Report) (sessions.CommitRequest, error) {
	report.Attempt = s.attempt
	entry, err := report.Entry()
	if end.Reason = ""; end.Outcome != sessions.Done {
		end.Outcome = sessions.Unanswered
	}
	end.Entries = append(end.Entries, entry)
	return end, err
}

// deliver adds to a turn's end what the schedule does with it.
func (s *scheduled) deliver(turn *turns.Turn, end sessions.CommitRequest, job scheduler.Job) (sessions.CommitRequest, error) {
	end.Deliveries = nil // what fails is told by the schedule
	report := scheduler.Report{Result: scheduler.NoAnswer, Error: end.Reason}
	answer, is := answerIn(end.Entries)
	switch {
	case end.Outcome == sessions.Park || len(end.Entries) == 0:
		// Nobody has seen the beginning of an answer that failed.
		end.Entries = slices.DeleteFunc(end.Entries, func(e sessions.NewEntry) bool { return e.Type == sessions.EntryMessage })
		return s.report(end, report)
	case !is || answer.Stopped:
		report.Result = scheduler.Stopped
		return s.report(end, report)
	}
	report.Tokens, report.Result = answer.Tokens, scheduler.Quiet
	shown, silent, _ := routing.StripReply(answer.Text, turn.Group)
	if silent {
		return s.report(end, report)
	}
	at := slices.IndexFunc(end.Entries, func(e sessions.NewEntry) bool { return e.Type == sessions.EntryMessage })
	report.Result, report.Behind = scheduler.Answered, int64(len(end.Entries)-at)
	var err error
	if end.Deliveries, report.Targets, err = s.toTargets(job.Targets, shown, at); err != nil {
		return end, err
	}
	return s.report(end, report)
}

// answerIn is the assistant's message among the entries of a turn's end.
func answerIn(entries []sessions.NewEntry) (sessions.Message, bool) {
	for _, entry := range entries {
		var m sessions.Message
		if entry.Type == sessions.EntryMessage && json.Unmarshal(entry.Payload, &m) == nil && m.Role == sessions.RoleAssistant {
			return m, true
		}
	}
	return sessions.Message{}, false
}

// resend delivers an answer once more, where it failed.
func (s *scheduled) resend(job scheduler.Job) (sessions.CommitRequest, error) {
	shown, err := shownAnswer(*job.Answer)
	if err != nil {
		return sessions.CommitRequest{}, err
	}
	rows, targets, err := s.toTargets(job.Targets, shown, 0)
	if err != nil {
		return sessions.CommitRequest{}, err
	}
	return s.report(sessions.CommitRequest{Deliveries: rows}, scheduler.Report{Result: scheduler.Resent, Targets: targets})
}

func shownAnswer(entry sessions.Entry) (string, error) {
	m, err := entry.Message()
	if err != nil {
		return "", err
	}
	shown, _, _ := routing.StripReply(m.Text, false)
	return shown, nil
}

// toTargets are the rows that show text on surfaces.
func (s *schedules) toTargets(surfaces []string, text string, entry int) (rows []sessions.NewDelivery, targets []scheduler.Target, err error) {
	for _, surface := range surfaces {
		some, err := s.outbox.Rows(delivery.Text{Surface: surface, Text: text, Format: adapters.Markdown, Entry: entry})
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, some...)
		targets = append(targets, scheduler.Target{Surface: surface, Rows: len(some)})
	}
	return rows, targets, nil
}

// scheduledPrompt tells the model what is special about a turn of a schedule.
func scheduledPrompt(job scheduler.Job) string {
	var out strings.Builder
	out.WriteString("This is a run of the schedule \"" + job.Plan.ID + "\". Nobody is talking to you: the message is the schedule's own text, and nobody can answer questions. ")
	if len(job.Targets) > 0 {
		out.WriteString("Your final answer is delivered to the people it is meant for; write it for them. ")
	}
	out.WriteString("If there is nothing worth saying, answer exactly " + routing.SilenceMarker + " and nothing else.")
	return out.String()
}
