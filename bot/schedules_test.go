package bot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/bot/due"
	"parley/internal/pause"
	"parley/scheduler"
	"parley/sessions"
)

// runsOf waits until a schedule has so many runs that ended, and returns them,
// newest first.
func (s *stage) runsOf(id string, ended int) []scheduler.Run {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for {
		runs, err := s.bot.schedules.book().History(ctx, id, 100)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			s.t.Fatal(err)
		}
		done := 0
		for _, run := range runs {
			if run.Outcome != "" {
				done++
			}
		}
		if done >= ended {
			return runs
		}
		pause.For(ctx, due.Every)
	}
}

// retrying waits until a schedule's run has failed and is to be tried again:
// people are told of it before that is stored.
func (s *stage) retrying(id string) scheduler.View {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for {
		view, err := s.bot.schedules.book().Get(ctx, id)
		if err != nil {
			s.t.Fatal(err)
		}
		if view.Run != nil && view.Run.Phase == scheduler.Retrying {
			return view
		}
		pause.For(ctx, due.Every)
	}
}

func (s *stage) asks(who, text, answer string) {
	s.t.Helper()
	s.says(who, text)
	s.hears(answer)
}

func TestAScheduleOfAChat(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.asks("owner", `/schedule add "every 1s" id=tick overlap=skip Say tick`, "Schedule `tick` is set: every 1s.")
	s.hears("echo: Say tick")
	runs := s.runsOf("tick", 2)
	for _, run := range runs {
		if run.Outcome != "" && run.Outcome != scheduler.OK && run.Outcome != scheduler.Skipped || run.Session != "schedule:tick" && run.Outcome == scheduler.OK {
			t.Errorf("run %+v", run)
		}
	}
	s.asks("owner", "/schedule pause tick", "Schedule `tick` is paused")
	s.asks("owner", "/schedule list", "`tick` every 1s: paused")
	s.asks("owner", "/schedule history tick", "Runs of `tick`")
	s.asks("owner", "/schedule rm tick", "Schedule `tick` is removed")
	s.asks("owner", "/schedule pause tick", "no such schedule")

	// Its answers stand in the chat's own session, so that one can answer them.
	s.says("owner", "What did you say?")
	s.hears("echo: What did you say?")
	requests := s.brain.asked()
	last := requests[slices.IndexFunc(requests, func(r agent.Request) bool {
		return r.Messages[len(r.Messages)-1].Text == "What did you say?"
	})]
	found := false
	for _, m := range last.Messages {
		found = found || m.Role == sessions.RoleAssistant && m.Text == "echo: Say tick"
	}
	if !found {
		t.Errorf("the model does not see what the schedule said here: %+v", last.Messages)
	}
	if !strings.Contains(requests[0].System, "run of the schedule \"tick\"") {
		t.Errorf("system prompt of a run: %s", requests[0].System)
	}
	record, err := s.store.Get(t.Context(), "schedule:tick")
	if err != nil || record.Source.Interactive || record.Source.Kind != "schedule" {
		t.Errorf("session %+v %v", record, err)
	}
}

func TestASilentRunSaysNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{Text: "`<NO_REPLY>`"}, nil
	})
	s.asks("owner", `/schedule add "every 1s" id=quiet Anything?`, "is set")
	first := func(runs []scheduler.Run) scheduler.Run { return runs[len(runs)-1] }
	runs := s.runsOf("quiet", 1)
	for n := 2; first(runs).Outcome == ""; n++ { // what was skipped meanwhile has ended
		runs = s.runsOf("quiet", n)
	}
	if run := first(runs); run.Outcome != scheduler.Silent {
		t.Errorf("run %+v", run)
	}
	if texts := s.platform.texts(); len(texts) != 1 {
		t.Errorf("sent %q", texts)
	}
}

func TestAModelThatFailsIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{}, &agent.ModelError{Kind: agent.KindUnauthorized, Err: errors.New("no key")}
	})
	s.asks("owner", `/schedule add "every 1s" id=bad Try`, "is set")
	s.hears("⚠ The schedule `bad`")
	if view := s.retrying("bad"); view.Failures != 1 {
		t.Errorf("schedule %+v", view)
	}
	letters, err := s.store.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 0 {
		t.Errorf("dead letters %v %v", letters, err)
	}
	if texts := s.platform.texts(); len(texts) != 2 {
		t.Errorf("sent %q", texts)
	}
}

func TestAChatThatIsGone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.platform.fail = func(m adapters.Outgoing) error {
		if m.Surface.Chat == "gone" {
			return &adapters.SendError{Kind: adapters.SendGone, Reason: "chat not found"}
		}
		return nil
	}
	s.asks("owner", `/schedule add "every 1s" id=two to=telegram:77:gone to=telegram:77:owner News`, "is set")
	s.hears("telegram:77:gone: ")
	s.platform.until(t, "one copy of the news", func() bool {
		n := 0
		for _, sent := range s.platform.sent {
			if sent.Text == "echo: News" {
				n++
			}
		}
		return n == 1
	})
	view := s.retrying("two")
	if view.Run.Deliveries[0].State != sessions.DeliveryFailed || view.Run.Deliveries[1].State != sessions.DeliverySent {
		t.Errorf("schedule %+v", view.Run)
	}
}

func TestWhoMayUseSchedules(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.asks("owner", `/schedule add @yearly id=mine Prompt of the owner`, "It fires next:")
	s.asks("member", `/schedule add @yearly id=his Prompt of a member`, "Schedule `his` is set")
	s.asks("member", `/schedule add @yearly id=far to=telegram:77:owner x`, "Only an owner can have")
	s.asks("member", `/schedule rm mine`, "no such schedule")
	s.asks("member", `/schedule list`, "`his` @yearly (UTC): active")
	for _, text := range s.platform.texts() {
		if strings.Contains(text, "Prompt of the owner") {
			t.Errorf("a member sees %q", text)
		}
	}
	s.asks("owner", `/schedule list`, "`mine` @yearly (UTC): active")
	s.asks("owner", `/schedule add "0 0 30 2 *" x`, "never comes: there is no such date")
	s.asks("owner", `/schedule add "* * * * * *" x`, "it has 6 fields instead of five")
	s.asks("owner", `/schedule add @daily zone=Mars/Phobos x`, "is not a time zone")
	s.asks("owner", `/schedule add @daily to=discord:1:2 x`, "no connection to it is configured")
	s.asks("owner", `/schedule nonsense`, "`/schedule list`")
	s.asks("owner", `/schedule rm his`, "Schedule `his` is removed")
}

func TestACommandDeliveredTwiceMakesOneSchedule(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	event := s.event("owner", "/schedule add @yearly Once", false)
	s.takeIn(event)
	s.takeIn(event)
	s.hears("is set")
	views, _, err := s.bot.schedules.book().List(t.Context(), sessions.ScheduleList{Limit: 10})
	if err != nil || len(views) != 1 {
		t.Errorf("%d schedules %v", len(views), err)
	}
	s.end()
	if texts := s.platform.texts(); len(texts) != 1 {
		t.Errorf("sent %q", texts)
	}
}

func TestDeclaredSchedulesAndChores(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(c *Config) {
		c.Schedules = []scheduler.Definition{{ID: "a", Every: "1s", Prompt: "Hello", DeliverTo: []string{"telegram:77:owner"}}}
		c.Retention = Retention{StaleAfter: sessions.LeaseFor, DeadLetters: sessions.LeaseFor}
	})
	s.hears("echo: Hello")
	s.asks("owner", "/schedule rm a", "declared in the configuration file")
	tallies, err := scheduler.Tallies(t.Context(), s.store)
	if err != nil || fmt.Sprint(len(tallies)) != "2" {
		t.Errorf("chores %v %v", tallies, err)
	}
}

func TestTheHeartbeat(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "heartbeat.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# Nothing yet\n")
	s := newStage(t, func(c *Config) {
		c.Schedules = []scheduler.Definition{}
		c.Heartbeat = Heartbeat{Every: time.Second, Chat: "telegram:77:owner", File: path}
	})
	s.brain.answers(func(_ context.Context, r agent.Request, _ func(string)) (agent.Answer, error) {
		last := r.Messages[len(r.Messages)-1].Text
		if strings.Contains(last, "- water the plants") {
			return agent.Answer{Text: "The plants want water."}, nil
		}
		return agent.Answer{Text: "<NO_REPLY>"}, nil
	})
	s.runsOf(HeartbeatID, 1)
	if asked := s.brain.asked(); len(asked) != 0 {
		t.Errorf("an empty checklist was asked about: %+v", asked)
	}
	write("# Plants\n- feed the cat\n")
	s.runsOf(HeartbeatID, 3)
	if texts := s.platform.texts(); len(texts) != 0 {
		t.Errorf("sent %q", texts)
	}
	write("- water the plants\n")
	s.hears("The plants want water.")
	if record := s.record("owner"); record.Source.Kind != "channel" {
		t.Errorf("the heartbeat was not in the chat's own session: %+v", record)
	}
	s.platform.mu.Lock()
	defer s.platform.mu.Unlock()
	if s.platform.typed != 0 {
		t.Error("a heartbeat was seen to type")
	}
}
