package bot

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"parley/adapters"
	"parley/routing"
	"parley/scheduler"
	"parley/sessions"
)

// newScheduler connects the schedules with the bot.
func (b *Bot) newScheduler() *scheduler.Scheduler {
	return scheduler.New(scheduler.Config{
		Store: b.store, Post: b.postScheduled, Stop: b.Stop, Copy: b.copyAnswer, Tell: b.tellNews, Log: b.log,
		Ended: b.metrics.scheduleRan,
	})
}

// scheduleFired handles the timers of schedules and of the gateway's chores.
func (b *Bot) scheduleFired(ctx context.Context, timer sessions.Timer) error {
	if b.chores.Owns(timer) {
		return b.chores.Fired(ctx, timer)
	}
	return b.schedules.Fired(ctx, timer)
}

// declareSchedules brings the store's schedules in line with the configuration
// and sets the chores going. It tries until it succeeds or ctx ends.
func (b *Bot) declareSchedules(ctx context.Context) {
	for attempt := 1; ctx.Err() == nil; attempt++ {
		err := b.chores.Ensure(ctx)
		if err == nil && b.declared != nil {
			err = b.Schedules().Declare(ctx, b.declared)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		b.log.Error("schedules could not be set up as configured", "error", err)
		if !errors.Is(err, sessions.ErrUnavailable) {
			return
		}
		wait(ctx, backoff(attempt, jitter()))
	}
}

// Schedules is how people see and change the schedules.
func (b *Bot) Schedules() *scheduler.Book {
	return &scheduler.Book{Store: b.store, World: scheduler.World{Surface: b.surfaceProblem}}
}

// surfaceProblem says why nothing can be delivered to a surface; empty: it can.
func (b *Bot) surfaceProblem(key string) string {
	surface, err := adapters.ParseSurface(key)
	switch {
	case err != nil:
		return "not a surface key; /whoami prints the key of a chat"
	case surface.Platform == adapters.Schedule:
		return "a schedule is no place where people read"
	case local(surface.Platform) && surface.Account == adapters.Local:
		return ""
	}
	for _, adapter := range b.adapters {
		if adapter.Capabilities().Platform == surface.Platform && (adapter.Account() == surface.Account || adapter.Account() == "") {
			return ""
		}
	}
	return "no connection to it is configured"
}

// postScheduled posts a prompt with the rights that the schedule's maker has
// now, and sets its turn going.
func (b *Bot) postScheduled(ctx context.Context, plan *scheduler.Plan, request sessions.PostRequest) (sessions.PostResult, error) {
	role, maker := routing.Owner, sessions.User{}
	if request.UserID != "" {
		var err error
		if maker, err = b.people.ask(ctx, request.UserID); err != nil {
			return sessions.PostResult{}, err
		}
		if role = b.people.role(maker); role.Rank() < routing.Member.Rank() {
			return sessions.PostResult{}, scheduler.ErrNoRights
		}
		request.UserID, request.New.UserID = maker.ID, maker.ID
	}
	if err := b.preparePrompt(ctx, plan, &request); err != nil {
		return sessions.PostResult{}, err
	}
	if err := b.leaveOthers(ctx, plan, maker, &request); err != nil {
		return sessions.PostResult{}, err
	}
	request.Rights, request.Message.Sender.Role = string(role), string(role)
	request.Claim, request.Known = b.claimer(), b.tails.knownOf(request.Surface)
	result, err := b.store.Post(ctx, request)
	if err == nil && result.Turn != nil {
		b.startTurn(result.Turn)
	}
	if err == nil && result.Outcome != sessions.PostDuplicate {
		b.log.Info("a schedule fired", "schedule", plan.ID, "key", request.Key, "session", result.Session)
	}
	return result, err
}

// metaMaker names, in a schedule's own session, whose schedule it is.
const metaMaker = "schedule_by"

// leaveOthers gives a schedule a conversation of its own where somebody else
// had a schedule of its id before: neither reads what the other's was told.
func (b *Bot) leaveOthers(ctx context.Context, plan *scheduler.Plan, maker sessions.User, request *sessions.PostRequest) error {
	if plan.In != "" {
		return nil // it is the surface's own
	}
	request.New.Metadata[metaMaker] = maker.ID
	record, err := b.store.Bound(ctx, request.Surface)
	if err != nil {
		return ignoreGone(err)
	}
	if by, told := record.Metadata[metaMaker].(string); !told || by == maker.ID || by != "" && maker.Is(by) {
		return nil
	}
	if _, err = b.store.Detach(ctx, record.ID, request.Surface); err == nil {
		b.log.Info("a schedule begins a conversation of its own: another maker's had its id before", "schedule", plan.ID, "left", record.ID)
	}
	return ignoreGone(err)
}

// isScheduled: the turn answers the prompt of a schedule.
func (r *run) isScheduled() bool {
	return len(r.asked) == 1 && r.asked[0].Decision == scheduler.Decision && scheduler.IDOf(r.asked[0].MessageID) != ""
}

// thinkScheduled is think for the turn of a schedule: its answer goes where the
// schedule says, and its end is reported in the log, in the same step.
func (b *Bot) thinkScheduled(ctx context.Context, r *run, written []sessions.Entry) (sessions.CommitRequest, error) {
	attempt := r.asked[0].MessageID
	job, err := b.schedules.Job(ctx, scheduler.IDOf(attempt), attempt)
	switch {
	case errors.Is(err, scheduler.ErrOvertaken):
		b.tails.drop(r.Lease.Session)
		return reported(sessions.CommitRequest{}, scheduler.Report{Attempt: attempt, Result: scheduler.Overtaken})
	case err != nil:
		commit, err := b.unread(ctx, err)
		if err != nil {
			return commit, err
		}
		return b.delivered(r, commit, job)
	case job.Answer != nil:
		b.tails.drop(r.Lease.Session)
		return b.resent(attempt, job)
	}
	r.job = &job
	commit, err := b.think(ctx, r, written)
	if err != nil {
		return commit, err
	}
	return b.delivered(r, commit, job)
}

// reported ends a turn with its report. What failed is tried again by the
// schedule, not as a dead letter.
func reported(commit sessions.CommitRequest, report scheduler.Report) (sessions.CommitRequest, error) {
	entry, err := report.Entry()
	commit.Outcome, commit.Reason = sessions.Done, ""
	commit.Entries = append(commit.Entries, entry)
	return commit, err
}

// delivered adds to a turn's end what the schedule does with it.
func (b *Bot) delivered(r *run, commit sessions.CommitRequest, job scheduler.Job) (sessions.CommitRequest, error) {
	commit.Deliveries = nil // what fails is told by the schedule
	report := scheduler.Report{Attempt: r.asked[0].MessageID, Result: scheduler.NoAnswer, Error: commit.Reason}
	answer, is := answerIn(commit.Entries)
	switch {
	case commit.Outcome == sessions.Park || len(commit.Entries) == 0:
		return reported(commit, report)
	case !is || answer.Stopped:
		report.Result = scheduler.Stopped
		return reported(commit, report)
	}
	report.Tokens, report.Result = answer.Tokens, scheduler.Quiet
	shown, silent, _ := routing.StripReply(answer.Text, r.group)
	if silent {
		return reported(commit, report)
	}
	at := slices.IndexFunc(commit.Entries, func(e sessions.NewEntry) bool { return e.Type == sessions.EntryMessage })
	report.Result, report.Behind = scheduler.Answered, int64(len(commit.Entries)-at)
	var err error
	if commit.Deliveries, report.Targets, err = b.toTargets(job.Targets, shown, at); err != nil {
		return commit, err
	}
	return reported(commit, report)
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

// resent delivers an answer once more, where it failed.
func (b *Bot) resent(attempt string, job scheduler.Job) (sessions.CommitRequest, error) {
	shown, err := shownAnswer(*job.Answer)
	if err != nil {
		return sessions.CommitRequest{}, err
	}
	rows, targets, err := b.toTargets(job.Targets, shown, 0)
	if err != nil {
		return sessions.CommitRequest{}, err
	}
	return reported(sessions.CommitRequest{Deliveries: rows}, scheduler.Report{Attempt: attempt, Result: scheduler.Resent, Targets: targets})
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
func (b *Bot) toTargets(surfaces []string, text string, entry int) (rows []sessions.NewDelivery, targets []scheduler.Target, err error) {
	for _, surface := range surfaces {
		some, err := b.outgoing(surface, text, adapters.Markdown, "", entry)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, some...)
		targets = append(targets, scheduler.Target{Surface: surface, Rows: len(some)})
	}
	return rows, targets, nil
}

// scheduledEnded is called with what a schedule's turn has written, before it
// is sent: whoever answers to it finds it in the conversation.
func (b *Bot) scheduledEnded(r *run, entries []sessions.Entry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(b.sending), storeTimeout)
	defer cancel()
	for _, entry := range entries {
		m, err := entry.Message()
		if err != nil || m.Role != sessions.RoleAssistant || m.Silent || m.Stopped || r.job == nil {
			continue
		}
		for _, surface := range r.job.Targets {
			if err := b.copyAnswer(ctx, scheduler.NewCopy(r.job.Plan, r.job.Run, surface, entry)); err != nil {
				b.log.Warn("an answer of a schedule could not be stored where it is sent; it is tried again", "schedule", r.job.Plan.ID, "surface", surface, "error", err)
			}
		}
	}
	b.lookAtSchedule(r.asked[0].MessageID)
}

// lookAtSchedule takes a schedule further, now: the one of a session, or of the
// prompt with a message id. Should it fail, the schedule's timer does the same.
func (b *Bot) lookAtSchedule(of string) {
	id := scheduler.IDOf(of)
	if id == "" {
		return
	}
	b.spawn(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(b.sending), timerFor*3/4)
		defer cancel()
		if err := b.schedules.Look(ctx, id); err != nil {
			b.log.Warn("a schedule could not be looked at; it is tried again", "schedule", id, "error", err)
		}
	})
}

// copyAnswer stores an answer in the session of the surface it is delivered to,
// once, so that people can answer it.
func (b *Bot) copyAnswer(ctx context.Context, c scheduler.Copy) error {
	surface, err := adapters.ParseSurface(c.Surface)
	if err != nil || c.Surface == c.Plan.In {
		return nil //nolint:nilerr // nothing is delivered there either, which the run says; or it stands there already
	}
	m, err := c.Answer.Message()
	if err != nil {
		return err
	}
	text, err := shownAnswer(c.Answer)
	if err != nil {
		return err
	}
	return b.postAnswer(ctx, c.Key, surface, sessions.Message{
		Role: sessions.RoleAssistant, Text: text, Model: m.Model, Decision: "schedule:" + c.Plan.ID,
	})
}

// postAnswer stores something the bot said of its own accord in the session of
// a surface, once per key. It makes the session if there is none.
func (b *Bot) postAnswer(ctx context.Context, key string, surface adapters.Surface, m sessions.Message) error {
	group, err := b.isGroup(ctx, surface)
	if err != nil {
		return err
	}
	m.Group = group
	_, err = b.store.Post(ctx, sessions.PostRequest{
		Key: key, Surface: surface.Key(), Message: m,
		New: newSession(adapters.Event{Surface: surface, Direct: !group}, ""),
	})
	if isInvalid(err) {
		b.log.Error("what the bot said of its own accord could not be stored", "surface", surface, "error", err)
		return nil
	}
	return err
}

// isGroup tells, as well as it can be told without a message from there,
// whether many people talk on a surface: its session knows, else it is a group
// if it was allowed as one.
func (b *Bot) isGroup(ctx context.Context, surface adapters.Surface) (bool, error) {
	if local(surface.Platform) {
		return false, nil
	}
	record, err := b.store.Bound(ctx, surface.Key())
	if err == nil {
		return record.Source.Type == sessions.Group, nil
	}
	if !errors.Is(err, sessions.ErrNotFound) {
		return false, err
	}
	return b.listed.ask(ctx, surface.ChatKey())
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
