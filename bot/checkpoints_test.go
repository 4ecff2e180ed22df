package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/adapters"
	"parley/agent"
	"parley/api"
	"parley/bot/checkpoints"
	"parley/bot/texts"
	"parley/sessions"
	"parley/sessions/storetest"
)

// scribe is a model whose notes are the test's, and that else echoes.
func (s *stage) scribe(notes func(ctx context.Context, in agent.CheckpointInput) (string, error)) {
	s.brain.answers(func(ctx context.Context, request agent.Request, _ func(string)) (agent.Answer, error) {
		in, is := agent.CheckpointOf(request)
		if !is {
			return agent.Answer{Text: "echo: " + request.Messages[len(request.Messages)-1].Text}, nil
		}
		text, err := notes(ctx, in)
		return agent.Answer{Text: text}, err
	})
}

func notesText(description, memory string) string {
	text, _ := json.Marshal(agent.CheckpointNotes{Description: description, WorkingMemory: memory}) //nolint:errchkjson // strings always encode
	return string(text)
}

// heardTexts are the texts of what a checkpoint was given to read.
func heardTexts(in agent.CheckpointInput) string {
	texts := make([]string, len(in.Said))
	for i, line := range in.Said {
		texts[i] = line.Text
	}
	return strings.Join(texts, "|")
}

// checkpointed waits until a session has so many checkpoints, and gives them.
func (s *stage) checkpointed(session string, count int) []sessions.CheckpointEntry {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	changes, err := s.store.Watch(ctx, session)
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		found := s.checkpointsOf(session)
		if len(found) >= count {
			return found
		}
		if _, open := <-changes; !open {
			s.t.Fatalf("there were never %d checkpoints: %+v", count, found)
		}
	}
}

func (s *stage) checkpointsOf(session string) (found []sessions.CheckpointEntry) {
	s.t.Helper()
	entries, err := s.store.Range(s.t.Context(), session, 1, 1000)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, entry := range entries {
		var c sessions.CheckpointEntry
		if entry.Type == sessions.EntryCheckpoint && json.Unmarshal(entry.Payload, &c) == nil {
			found = append(found, c)
		}
	}
	return found
}

func (s *stage) get(id string) sessions.Record {
	s.t.Helper()
	record, err := s.store.Get(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return record
}

// automatic switches checkpoints on; fields of limits that are zero stand for
// never.
func automatic(limits checkpoints.Rules) option {
	return func(c *Config) {
		c.Checkpoints = limits
		c.Checkpoints.Enabled = true
		c.Checkpoints.Turns = max(limits.Turns, 0)
		if limits.Turns == 0 {
			c.Checkpoints.Turns = 1_000
		}
		if limits.Idle == 0 {
			c.Checkpoints.Idle = time.Hour
		}
		if limits.Unprompted == 0 {
			c.Checkpoints.Unprompted = 1_000
		}
	}
}

func TestACheckpointIsMadeWhenAskedFor(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		s.scribe(func(_ context.Context, in agent.CheckpointInput) (string, error) {
			return notesText("About "+heardTexts(in), "Ada likes tea\n# and *lists*"), nil
		})
		record := s.talks("member", "tea")
		s.asks("member", "/checkpoint", "Checkpoint made. This conversation is about: About tea\\|echo: tea\n\nI keep in mind:\n\n> Ada likes tea\n> \\# and \\*lists\\*")
		record = s.get(record.ID)
		if record.Description != "About tea|echo: tea" || record.DescriptionSource != sessions.DescriptionAgent || record.WorkingMemory != "Ada likes tea\n# and *lists*" || record.Checkpoint.Turns != 1 {
			t.Errorf("record %+v", record)
		}
		made := s.checkpointsOf(record.ID)
		if len(made) != 1 || made[0].Reason != "manual" || made[0].FromSeq != 1 || made[0].ToSeq != record.Checkpoint.Seq || made[0].Turns != 1 || made[0].Text != record.Description {
			t.Errorf("made %+v, record %+v", made, record.Checkpoint)
		}
		expect(t, s.ask("member", "/checkpoint"), texts.CheckpointNothing)
		if again := s.checkpointsOf(record.ID); len(again) != 1 {
			t.Errorf("made of nothing: %+v", again)
		}
		expect(t, s.ask("member", "/status"), "About: About tea")

		s.talks("member", "and then")
		asked := s.brain.asked()
		expect(t, asked[len(asked)-1].System, "\n\n# Working memory\n", "\n> Ada likes tea\n> # and *lists*")

		own := "my own words"
		if _, err := s.store.Update(t.Context(), record.ID, sessions.Patch{Description: &sessions.Description{Text: own, Source: sessions.DescriptionUser}}); err != nil {
			t.Fatal(err)
		}
		expect(t, s.ask("member", "/checkpoint"), "is about: "+own)
		if record = s.get(record.ID); record.Description != own || record.DescriptionSource != sessions.DescriptionUser {
			t.Errorf("a person's own words were overwritten: %+v", record)
		}
		if made = s.checkpointsOf(record.ID); len(made) != 2 || made[1].FromSeq != made[0].ToSeq+1 || made[1].Text != "" || made[1].Turns != 1 {
			t.Errorf("made %+v", made)
		}
	})
}

func TestACheckpointThatFailsMovesNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		var faulty *storetest.Faulty
		s := newStage(t, on, func(c *Config) { faulty = storetest.NewFaulty(c.Store); c.Store = faulty })
		answer := map[string]string{"form": "I think it is about tea.", "fine": notesText("tea", "m")}
		kind, read := "fail", ""
		s.scribe(func(_ context.Context, in agent.CheckpointInput) (string, error) {
			read = heardTexts(in)
			if kind == "fail" {
				return "", &agent.ModelError{Kind: agent.KindRateLimited, Reason: "r"}
			}
			return answer[kind], nil
		})
		record := s.talks("owner", "tea")
		failed := func(want string) {
			t.Helper()
			expect(t, s.ask("owner", "/checkpoint"), want)
			if now := s.get(record.ID); now.Description != "tea" || now.DescriptionSource != sessions.DescriptionFallback || now.WorkingMemory != "" || now.Checkpoint != (sessions.Checkpoint{}) || len(s.checkpointsOf(record.ID)) != 0 {
				t.Errorf("%s: something moved: %+v", kind, now)
			}
		}
		failed("nothing was changed. I'm being asked too much at once")
		kind = "form"
		failed("did not answer in the form I need")
		kind = "fine"
		faulty.Fail(storetest.Fault{Op: "Note"})
		failed("nothing was changed. Please try again")

		s.talks("owner", "cake")
		expect(t, s.ask("owner", "/checkpoint"), "Checkpoint made.")
		if read != "tea|echo: tea|cake|echo: cake" {
			t.Errorf("the next one read %q", read)
		}
		// What was written, but not heard of, is not written twice.
		s.talks("owner", "milk")
		faulty.Fail(storetest.Fault{Op: "Note", When: storetest.After})
		expect(t, s.ask("owner", "/checkpoint"), "Please try again")
		expect(t, s.ask("owner", "/checkpoint"), texts.CheckpointNothing)
		if made := s.checkpointsOf(record.ID); len(made) != 2 || made[0].FromSeq != 1 || made[1].FromSeq != made[0].ToSeq+1 {
			t.Errorf("made %+v", made)
		}
	})
}

// Two that look at the same range come to one checkpoint.
func TestOfCheckpointsAtOnceOneCounts(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		other, err := New(Config{Store: s.store, Model: s.brain, Retry: agent.RunOptions{Attempts: 1}})
		if err != nil {
			t.Fatal(err)
		}
		record := s.talks("owner", "tea")
		var both sync.WaitGroup
		both.Add(2)
		var count atomic.Int64
		s.scribe(func(context.Context, agent.CheckpointInput) (string, error) {
			both.Done()
			both.Wait() // both have read the same
			return notesText(fmt.Sprint("by ", count.Add(1)), "m"), nil
		})
		record = s.get(record.ID)
		outcomes := make(chan checkpoints.Outcome, 2)
		for _, b := range []*Bot{s.bot, other} {
			go func() {
				_, outcome, err := b.checkpoints.Make(t.Context(), record, checkpoints.Idle)
				if err != nil {
					t.Error(err)
				}
				outcomes <- outcome
			}()
		}
		if a, b := <-outcomes, <-outcomes; a == b || a != checkpoints.Made && b != checkpoints.Made || a != checkpoints.Overtaken && b != checkpoints.Overtaken {
			t.Errorf("outcomes %q and %q", a, b)
		}
		made := s.checkpointsOf(record.ID)
		if len(made) != 1 || s.get(record.ID).Description != made[0].Text {
			t.Errorf("made %+v, described %q", made, s.get(record.ID).Description)
		}
	})
}

// Of two replicas that see a timer due, one fires it.
func TestACheckpointsTimerIsOnes(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, automatic(checkpoints.Rules{}))
		var others sync.WaitGroup
		t.Cleanup(others.Wait)
		for i := range 2 {
			other, err := New(Config{Store: s.store, Model: s.brain, Replica: fmt.Sprint("other", i), Checkpoints: checkpoints.Rules{Enabled: true}, Retry: agent.RunOptions{Attempts: 1}})
			if err != nil {
				t.Fatal(err)
			}
			others.Go(func() { _ = other.Run(t.Context()) }) // nil
		}
		var asked atomic.Int64
		s.scribe(func(context.Context, agent.CheckpointInput) (string, error) {
			asked.Add(1)
			return notesText("tea", "m"), nil
		})
		old := s.talks("owner", "tea")
		expect(t, s.ask("owner", "/new"), texts.NewConversation)
		s.talks("owner", "cake")
		if made := s.checkpointed(old.ID, 1); len(made) != 1 || made[0].Reason != "new_session" || asked.Load() != 1 {
			t.Errorf("made %+v, asked %d times", made, asked.Load())
		}
	})
}

// What happens to a session while the model writes.
func TestACheckpointOfWhatChangesMeanwhile(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		var meanwhile func()
		s.scribe(func(context.Context, agent.CheckpointInput) (string, error) {
			meanwhile()
			return notesText("drawn from it", "drawn from it"), nil
		})
		var record sessions.Record
		run := func(who string, then func()) (checkpoints.Outcome, error) {
			t.Helper()
			record = s.get(s.talks(who, "secret").ID)
			meanwhile = then
			_, outcome, err := s.bot.checkpoints.Make(t.Context(), record, checkpoints.Manual)
			return outcome, err
		}
		none := func(what string, outcome checkpoints.Outcome, err error, want checkpoints.Outcome, wantErr error) {
			t.Helper()
			if outcome != want || !errors.Is(err, wantErr) {
				t.Errorf("%s: outcome %q, %v", what, outcome, err)
			}
		}
		outcome, err := run("owner", func() {
			if _, err := s.store.Clear(t.Context(), record.ID); err != nil {
				t.Error(err)
			}
		})
		none("cleared", outcome, err, checkpoints.Overtaken, nil)
		if now := s.get(record.ID); now.WorkingMemory != "" || now.Description != "" || len(s.checkpointsOf(record.ID)) != 0 {
			t.Errorf("what was cleared is told: %+v", now)
		}
		outcome, err = run("member", func() {
			if err := s.store.Delete(t.Context(), record.ID); err != nil {
				t.Error(err)
			}
		})
		none("deleted", outcome, err, checkpoints.Failed, sessions.ErrNotFound)

		outcome, err = run("member", func() {
			if _, err := s.store.Update(t.Context(), record.ID, sessions.Patch{WorkingMemory: new("mine")}); err != nil {
				t.Error(err)
			}
		})
		none("rewritten", outcome, err, checkpoints.Failed, checkpoints.ErrRewritten)
		if now := s.get(record.ID); now.WorkingMemory != "mine" {
			t.Errorf("overwritten: %q", now.WorkingMemory)
		}

		outcome, err = run("owner", func() {
			event := s.event("owner", "late", false)
			if _, err := s.store.Post(t.Context(), sessions.PostRequest{Surface: event.Surface.Key(), Message: sessions.Message{Role: sessions.RoleUser, Text: "late"}}); err != nil {
				t.Error(err)
			}
		})
		none("said", outcome, err, checkpoints.Made, nil)
		if now := s.get(record.ID); now.Checkpoint.Seq != record.Seq || now.WorkingMemory != "drawn from it" || now.Preview != "late" {
			t.Errorf("record %+v", now)
		}

		outcome, err = run("owner", func() {
			if _, err := s.store.Expire(t.Context(), record.ID); err != nil {
				t.Error(err)
			}
		})
		if _, expired := errors.AsType[*sessions.StateError](err); !expired || outcome != checkpoints.Failed {
			t.Errorf("expired: outcome %q, %v", outcome, err)
		}
	})
}

// /new is answered, and the new conversation goes on, whatever the model does
// with the old one.
func TestNewWaitsForNoCheckpoint(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, automatic(checkpoints.Rules{}))
		begun, finish := make(chan string, 10), make(chan error)
		s.scribe(func(_ context.Context, in agent.CheckpointInput) (string, error) {
			begun <- heardTexts(in)
			return notesText("old", "m"), <-finish
		})
		old := s.talks("owner", "tea")
		expect(t, s.ask("owner", "/new"), texts.NewConversation)
		if read := <-begun; read != "tea|echo: tea" {
			t.Errorf("read %q", read)
		}
		fresh := s.talks("owner", "cake")
		if fresh.ID == old.ID || len(s.checkpointsOf(old.ID)) != 0 {
			t.Errorf("%s after %s", fresh.ID, old.ID)
		}
		finish <- nil
		made := s.checkpointed(old.ID, 1)
		if now := s.get(old.ID); made[0].Reason != "new_session" || now.Description != "old" || now.State != sessions.StateSuspended {
			t.Errorf("made %+v, record %+v", made, now)
		}
		expect(t, s.ask("owner", "/new"), texts.NewConversation)
		<-begun
		finish <- &agent.ModelError{Kind: agent.KindUnauthorized, Reason: "r"}
		s.talks("owner", "milk")
		if now := s.get(fresh.ID); now.WorkingMemory != "" || len(s.checkpointsOf(fresh.ID)) != 0 {
			t.Errorf("a failed one wrote %+v", now)
		}
	})
}

func TestACheckpointAfterSoManyTurns(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, automatic(checkpoints.Rules{Turns: 2}))
		finish := make(chan struct{})
		s.scribe(func(ctx context.Context, in agent.CheckpointInput) (string, error) {
			select {
			case <-finish:
			case <-ctx.Done():
			}
			return notesText(heardTexts(in), "m"), ctx.Err()
		})
		s.talks("owner", "1")
		record := s.talks("owner", "2")
		s.talks("owner", "3") // no turn waits for it
		if made := s.checkpointsOf(record.ID); len(made) != 0 {
			t.Errorf("made %+v", made)
		}
		close(finish)
		made := s.checkpointed(record.ID, 1)
		if made[0].Reason != "turn_limit" || !strings.HasPrefix(made[0].Text, "1|echo: 1|2|echo: 2") {
			t.Errorf("made %+v", made)
		}
	})
}

func TestACheckpointWhenItIsQuiet(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, automatic(checkpoints.Rules{Idle: time.Millisecond}))
		s.scribe(func(_ context.Context, in agent.CheckpointInput) (string, error) {
			return notesText(heardTexts(in), "m"), nil
		})
		record := s.talks("owner", "tea")
		if made := s.checkpointed(record.ID, 1); made[0].Reason != "idle" || !strings.HasPrefix(made[0].Text, "tea") {
			t.Errorf("made %+v", made)
		}
		s.talks("owner", "cake")
		made := s.checkpointed(record.ID, 2)
		if made[1].FromSeq != made[0].ToSeq+1 {
			t.Errorf("made %+v", made)
		}
	})
}

func TestACheckpointOfWhatAGroupSaysAmongItself(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on, automatic(checkpoints.Rules{Unprompted: 3}))
		s.scribe(func(_ context.Context, in agent.CheckpointInput) (string, error) {
			return notesText(heardTexts(in), in.Said[0].Name), nil
		})
		s.saysInGroup("owner", "@bot hello")
		s.hears("echo:")
		record := s.idle("group")
		for i := range 3 {
			if len(s.checkpointsOf(record.ID)) != 0 {
				t.Fatalf("made after %d", i)
			}
			s.saysInGroup("member", fmt.Sprint("m", i))
		}
		made := s.checkpointed(record.ID, 1)
		if made[0].Reason != "idle" || !strings.HasSuffix(made[0].Text, "m0|m1|m2") || s.get(record.ID).WorkingMemory != "OWNER" {
			t.Errorf("made %+v", made)
		}
	})
}

// A gateway that stops in the middle leaves the checkpoint to the next one.
func TestACheckpointIsFinishedByTheNextGateway(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		store := memoryStore(t)
		config := Config{Store: store}
		on(&config)
		keep := func(c *Config) { c.Store = config.Store }
		s := newStage(t, keep, automatic(checkpoints.Rules{}))
		begun := make(chan struct{})
		s.scribe(func(ctx context.Context, _ agent.CheckpointInput) (string, error) {
			close(begun)
			<-ctx.Done()
			return "", ctx.Err()
		})
		old := s.talks("owner", "tea")
		expect(t, s.ask("owner", "/new"), texts.NewConversation)
		<-begun
		s.end()
		writes := &stage{brain: &brain{}} // before the next one looks what is due
		writes.scribe(func(_ context.Context, in agent.CheckpointInput) (string, error) {
			return notesText(heardTexts(in), "m"), nil
		})
		next := newStage(t, keep, automatic(checkpoints.Rules{}), func(c *Config) { c.Model = writes.brain })
		if made := next.checkpointed(old.ID, 1); made[0].Text != "tea|echo: tea" || made[0].FromSeq != 1 {
			t.Errorf("made %+v", made)
		}
	})
}

// counting counts the timers that are set.
type counting struct {
	sessions.Store
	timers atomic.Int64
	gone   chan struct{} // if set, told of each
}

func (c *counting) SetTimer(ctx context.Context, timer sessions.Timer, after time.Duration) error {
	err := c.Store.SetTimer(ctx, timer, after)
	if strings.HasPrefix(timer.Name, checkpoints.Purpose+":") {
		c.timers.Add(1)
		if c.gone != nil {
			c.gone <- struct{}{}
		}
	}
	return err
}

func TestTimersAreSetOncePerRange(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]bool{"on": true, "off": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := &counting{gone: make(chan struct{}, 100)}
			s := newStage(t, automatic(checkpoints.Rules{}), func(c *Config) {
				count.Store = c.Store
				c.Store, c.Checkpoints.Enabled = count, on
			})
			for i := range 4 {
				s.talks("owner", fmt.Sprint("m", i))
				if on && i == 0 {
					<-count.gone
				}
			}
			s.saysInGroup("owner", "@bot hello")
			s.hears("echo: [OWNER] @bot hello")
			s.end() // all that was begun is done
			want := map[bool]int64{true: 2, false: 0}[on]
			if got := count.timers.Load(); got != want {
				t.Errorf("%d timers were set, not %d", got, want)
			}
		})
	}
}

func TestACheckpointOverTheAPIAndOnAPage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.scribe(func(context.Context, agent.CheckpointInput) (string, error) { return notesText("tea", ""), nil })
	page := adapters.Surface{Platform: adapters.Web, Account: adapters.Local, Chat: "phone"}
	if _, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "tea"}); err != nil {
		t.Fatal(err)
	}
	s.answered("web:phone", 1)
	out, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "/checkpoint"})
	if err != nil || out.Reply != "Checkpoint made. This conversation is about: tea" {
		t.Fatalf("%+v, %v", out, err)
	}
	made, err := s.bot.Checkpoint(t.Context(), "web:phone")
	if err != nil || made.Made || made.Record.Description != "tea" || len(made.Entries) != 0 {
		t.Errorf("%+v, %v", made, err)
	}
	if _, err := s.bot.Say(t.Context(), api.Say{Surface: page, Text: "more"}); err != nil {
		t.Fatal(err)
	}
	s.answered("web:phone", 2)
	s.scribe(func(context.Context, agent.CheckpointInput) (string, error) { return "no notes", nil })
	if _, err := s.bot.Checkpoint(t.Context(), "web:phone"); !errors.Is(err, api.ErrNoCheckpoint) {
		t.Errorf("%v", err)
	}
	s.scribe(func(context.Context, agent.CheckpointInput) (string, error) { return notesText("cake", ""), nil })
	if made, err = s.bot.Checkpoint(t.Context(), "web:phone"); err != nil || !made.Made || len(made.Entries) != 1 || made.Record.Description != "cake" {
		t.Errorf("%+v, %v", made, err)
	}
	if _, err = s.bot.Checkpoint(t.Context(), "web:nobody"); !errors.Is(err, sessions.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
