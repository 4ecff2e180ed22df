package bot

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/adapters"
	"parley/bot/life"
	"parley/bot/turns"
	"parley/internal/pause"
	"parley/people"
	"parley/routing"
	"parley/scheduler"
	"parley/sessions"
)

// schedules are what happens on time: schedules and the gateway's own chores.
type schedules struct {
	*announcer
	*scheduler.Scheduler
	chores    *scheduler.Chores
	declared  []scheduler.Definition
	heartbeat Heartbeat
	zone      *time.Location
	people    *people.Directory
	turns     *turns.Runner // set once it is made
	life      *life.Life
}

// newSchedules makes them, but for their turns.
func (b *Bot) newSchedules(config Config) *schedules {
	s := &schedules{
		announcer: b.announcer, chores: newChores(b, config.Retention), declared: config.Schedules, heartbeat: config.Heartbeat,
		zone: config.Zone, people: b.people, life: b.life,
	}
	if s.declared != nil && s.heartbeat.Every > 0 {
		s.declared = append(slices.Clone(s.declared), s.heartbeat.definition())
	}
	s.Scheduler = scheduler.New(scheduler.Config{
		Store: s.store, Post: s.post, Stop: b.Stop, Copy: s.copyAnswer, Tell: s.tell, Log: s.log, Ended: b.metrics.ScheduleRan,
	})
	return s
}

// Fired handles the timers of schedules and of chores.
func (s *schedules) Fired(ctx context.Context, timer sessions.Timer) error {
	if s.chores.Owns(timer) {
		return s.chores.Fired(ctx, timer)
	}
	return s.Scheduler.Fired(ctx, timer)
}

// declare brings the store's schedules in line with the configuration and sets
// the chores going. It tries until it succeeds or ctx ends.
func (s *schedules) declare(ctx context.Context) {
	for attempt := 1; ctx.Err() == nil; attempt++ {
		err := s.chores.Ensure(ctx)
		if err == nil && s.declared != nil {
			err = s.book().Declare(ctx, s.declared)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		s.log.Error("schedules could not be set up as configured", "error", err)
		if !errors.Is(err, sessions.ErrUnavailable) {
			return
		}
		pause.After(ctx, attempt)
	}
}

// book is how people see and change the schedules.
func (s *schedules) book() *scheduler.Book {
	return &scheduler.Book{Store: s.store, World: scheduler.World{Surface: s.outbox.Connections.Problem}, Zone: s.zone.String()}
}

// post posts a prompt with the rights that the schedule's maker has
// now, and sets its turn going.
func (s *schedules) post(ctx context.Context, plan *scheduler.Plan, request sessions.PostRequest) (sessions.PostResult, error) {
	role, maker := routing.Owner, sessions.User{}
	if request.UserID != "" {
		var err error
		if maker, err = s.people.Ask(ctx, request.UserID); err != nil {
			return sessions.PostResult{}, err
		}
		if role = s.people.Role(maker); role.Rank() < routing.Member.Rank() {
			return sessions.PostResult{}, scheduler.ErrNoRights
		}
		if role != routing.Owner {
			if err := s.deliversHome(ctx, plan, maker); err != nil {
				return sessions.PostResult{}, err
			}
		}
		request.UserID, request.New.UserID = maker.ID, maker.ID
	}
	if err := s.preparePrompt(ctx, plan, &request); err != nil {
		return sessions.PostResult{}, err
	}
	if err := s.leaveOthers(ctx, plan, maker, &request); err != nil {
		return sessions.PostResult{}, err
	}
	request.Rights, request.Message.Sender.Role = string(role), string(role)
	request.Claim, request.Known = s.turns.Claimer(), s.turns.Cache.KnownOf(request.Surface)
	result, err := s.store.Post(ctx, request)
	if err == nil && result.Turn != nil {
		s.turns.Start(result.Turn)
	}
	if err == nil && result.Outcome != sessions.PostDuplicate {
		s.log.Info("a schedule fired", "schedule", plan.ID, "key", request.Key, "session", result.Session)
	}
	return result, err
}

// deliversHome refuses (ErrNotTheirChat) what only an owner may have, where the
// maker is none any more: everything goes to one chat, which is no group's and
// not somebody else's.
func (s *schedules) deliversHome(ctx context.Context, plan *scheduler.Plan, maker sessions.User) error {
	for _, to := range append([]string{plan.ReportTo}, plan.DeliverTo...) {
		surface, err := adapters.ParseSurface(to)
		if err != nil || to != plan.ReportTo || surface.Crowd() == adapters.CrowdGroup {
			return scheduler.ErrNotTheirChat
		}
	}
	record, err := s.store.Bound(ctx, plan.ReportTo)
	if err != nil {
		return ignoreGone(err)
	}
	others := len(record.Participants) > 0 && !slices.Contains(record.Participants, maker.ID)
	if record.Source.Type == sessions.Group && !record.Source.Assumed || others {
		return scheduler.ErrNotTheirChat
	}
	return nil
}

// metaMaker names, in a schedule's own session, whose schedule it is.
const metaMaker = "schedule_by"

// leaveOthers gives a schedule a conversation of its own where somebody else
// had a schedule of its id before: neither reads what the other's was told.
func (s *schedules) leaveOthers(ctx context.Context, plan *scheduler.Plan, maker sessions.User, request *sessions.PostRequest) error {
	if plan.In != "" {
		return nil // it is the surface's own
	}
	request.New.Metadata[metaMaker] = maker.ID
	record, err := s.store.Bound(ctx, request.Surface)
	if err != nil {
		return ignoreGone(err)
	}
	if by, told := record.Metadata[metaMaker].(string); !told || by == maker.ID || by != "" && maker.Is(by) {
		return nil
	}
	if _, err = s.store.Detach(ctx, record.ID, request.Surface); err == nil {
		s.log.Info("a schedule begins a conversation of its own: another maker's had its id before", "schedule", plan.ID, "left", record.ID)
	}
	return ignoreGone(err)
}

// look takes a schedule further, now: the one of a session, or of the
// prompt with a message id. Should it fail, the schedule's timer does the same.
func (s *schedules) look(of string) {
	id := scheduler.IDOf(of)
	if id == "" {
		return
	}
	s.life.Spawn(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life.Sending), timerFor*3/4)
		defer cancel()
		if err := s.Look(ctx, id); err != nil {
			s.log.Warn("a schedule could not be looked at; it is tried again", "schedule", id, "error", err)
		}
	})
}

// copyAnswer stores an answer in the session of the surface it is delivered to,
// once, so that people can answer it.
func (s *schedules) copyAnswer(ctx context.Context, c scheduler.Copy) error {
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
	return s.record(ctx, c.Key, surface, sessions.Message{
		Role: sessions.RoleAssistant, Text: text, Model: m.Model, Decision: "schedule:" + c.Plan.ID,
	})
}
