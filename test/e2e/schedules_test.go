package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/test/fakediscord"
	"parley/test/fakeslack"
	"parley/test/faketelegram"
)

// newsroom is a gateway on all three platforms and the owner's direct chats.
type newsroom struct {
	*world
	discord, slack *stage
	surfaces       []string
}

// openNewsroom has the owner say hello everywhere, so that all chats are known.
func openNewsroom(t *testing.T, w *world) *newsroom {
	t.Helper()
	n := &newsroom{world: w}
	n.discord, n.slack = allThree(t, w)
	n.discord.start()
	w.owner.Send(w.owner.DM(), "hello", faketelegram.SendOptions{})
	n.discord.on.say(olga, n.discord.on.dm(olga), "hello")
	n.slack.on.say(olga, n.slack.on.dm(olga), "hello")
	n.seen("You said: hello", 1)
	var found struct {
		Sessions []struct{ Surfaces []string }
	}
	if status := w.api(http.MethodGet, "/v1/sessions", nil, &found); status != http.StatusOK {
		t.Fatalf("the sessions: %d", status)
	}
	for _, session := range found.Sessions {
		n.surfaces = append(n.surfaces, session.Surfaces...)
	}
	if len(n.surfaces) != 3 {
		t.Fatalf("surfaces %v", n.surfaces)
	}
	return n
}

func (n *newsroom) chats() map[string][]string {
	return map[string][]string{
		"telegram": n.texts(n.owner.DM()), "discord": n.discord.on.shown(n.discord.on.dm(olga)), "slack": n.slack.on.shown(n.slack.on.dm(olga)),
	}
}

// seen waits until each chat shows a text so many times.
func (n *newsroom) seen(text string, times int) {
	n.t.Helper()
	n.eventually("each chat shows "+text, func() bool {
		for _, shown := range n.chats() {
			if count(shown, text) < times {
				return false
			}
		}
		return true
	})
	for name, shown := range n.chats() {
		if count(shown, text) != times {
			n.t.Errorf("%s shows %q %d times, want %d: %q", name, text, count(shown, text), times, shown)
		}
	}
}

type scheduledRun struct {
	Outcome, Phase, Error string
	Attempt               int
	Deliveries            []struct{ Surface, State, Reason string }
}

func (n *newsroom) runs(id string) []scheduledRun {
	n.t.Helper()
	var answer struct{ Runs []scheduledRun }
	n.api(http.MethodGet, "/v1/schedules/"+id+"/runs", nil, &answer)
	return answer.Runs
}

// made is a schedule that fires when it is told to.
func (n *newsroom) made(id string, changes map[string]any) {
	n.t.Helper()
	body := map[string]any{"id": id, "cron": "@yearly", "prompt": "the news of " + id, "deliver_to": n.surfaces, "report_to": n.surfaces[0]}
	maps.Copy(body, changes)
	if status := n.api(http.MethodPost, "/v1/schedules", body, nil); status != http.StatusCreated {
		n.t.Fatalf("schedule %s: %d", id, status)
	}
}

// fired is the run that a schedule makes now, once it has ended.
func (n *newsroom) fired(id string) scheduledRun {
	n.t.Helper()
	before := len(n.runs(id))
	if status := n.api(http.MethodPost, "/v1/schedules/"+id+"/run", nil, nil); status != http.StatusOK {
		n.t.Fatalf("run %s: %d", id, status)
	}
	var run scheduledRun
	n.eventually("the run of "+id+" ends", func() bool {
		runs := n.runs(id)
		if len(runs) <= before {
			return false
		}
		run = runs[0]
		return run.Outcome != ""
	})
	return run
}

func TestASchedulesAnswerReachesAllPlatforms(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		n := openNewsroom(t, w)
		n.made("plain", nil)
		if run := n.fired("plain"); run.Outcome != "ok" || len(run.Deliveries) != 3 {
			t.Errorf("run %+v", run)
		}
		n.seen("You said: the news of plain", 1)
		// One can answer it: it stands in the chat's own conversation.
		w.owner.Send(w.owner.DM(), "what was that?", faketelegram.SendOptions{})
		w.answer(w.owner.DM(), "You said: what was that?")
		if got := read(w.asked()[len(w.asked())-1]); !slices.Contains(got, "assistant: You said: the news of plain") {
			t.Errorf("the model does not read what the schedule said: %q", got)
		}
	})
}

// A platform that says "too many requests", one that does not answer, and one
// where the chat is gone.
func TestASchedulesAnswerOnPlatformsThatFail(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		n := openNewsroom(t, w)
		discord, _ := n.discord.on.(*onDiscord)
		slack, _ := n.slack.on.(*onSlack)
		const post = "POST /channels/{channel}/messages"

		w.telegram.Fail("sendMessage", faketelegram.Fault{Kind: faketelegram.TooManyRequests, RetryAfter: 1})
		discord.fake.Fail(post, 1, fakediscord.RateLimited(time.Second, false))
		slack.fake.Fail("chat.postMessage", fakeslack.Fault{Status: http.StatusTooManyRequests, RetryAfter: time.Second})
		n.made("slow", nil)
		if run := n.fired("slow"); run.Outcome != "ok" || run.Attempt != 1 {
			t.Errorf("429: %+v", run)
		}
		n.seen("You said: the news of slow", 1)

		w.telegram.Fail("sendMessage", faketelegram.Fault{Kind: faketelegram.Hang})
		discord.fake.Fail(post, 1, fakediscord.Fault{Hang: true})
		slack.fake.Fail("chat.postMessage", fakeslack.Fault{Hang: true})
		n.made("mute", nil)
		if run := n.fired("mute"); run.Outcome != "ok" || run.Attempt != 1 {
			t.Errorf("no answer: %+v", run)
		}
		n.seen("You said: the news of mute", 1)

		w.telegram.Fail("sendMessage", faketelegram.Fault{Kind: faketelegram.Refused, Code: 400, Text: "Bad Request: chat not found"})
		discord.fake.Fail(post, 1, fakediscord.Fault{Status: 404, Body: `{"code":10003,"message":"Unknown Channel"}`})
		slack.fake.Fail("chat.postMessage", fakeslack.Fault{Error: "channel_not_found"})
		n.made("gone", nil)
		run := n.fired("gone")
		if run.Outcome != "failed" || !strings.HasPrefix(run.Error, "not delivered: ") {
			t.Errorf("a chat that is gone: %+v", run)
		}
		for _, one := range run.Deliveries {
			if one.State != "failed" || one.Reason == "" {
				t.Errorf("delivery %+v", one)
			}
		}
		n.eventually("somebody is told", func() bool {
			told := 0
			for _, shown := range n.chats() {
				told += count(shown, "⚠ The schedule")
			}
			return told == 1
		})
	})
}

// A gateway that is killed while its schedules fire, again and again: every
// firing is seen once.
func TestSchedulesOfAKilledGateway(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		w.start()
		w.owner.Send(w.owner.DM(), "hello", faketelegram.SendOptions{})
		w.answer(w.owner.DM(), "You said: hello")
		var found struct {
			Sessions []struct{ Surfaces []string }
		}
		w.api(http.MethodGet, "/v1/sessions", nil, &found)
		n := &newsroom{world: w, surfaces: found.Sessions[0].Surfaces}
		n.made("tick", map[string]any{"cron": "", "every": "1s", "missed": "all", "overlap": "queue", "session": "fresh"})
		for round := range 3 {
			n.eventually("some runs end", func() bool { return n.ended("tick") > round })
			w.kill9()
			w.start()
		}
		if status := w.api(http.MethodPost, "/v1/schedules/tick/pause", nil, nil); status != http.StatusOK {
			t.Fatalf("pause: %d", status)
		}
		n.eventually("no run goes on", func() bool {
			return !slices.ContainsFunc(n.runs("tick"), func(r scheduledRun) bool { return r.Outcome == "" })
		})
		var answer struct {
			Runs []struct {
				Planned time.Time
				Outcome string
			}
		}
		w.api(http.MethodGet, "/v1/schedules/tick/runs?limit=200", nil, &answer)
		slices.Reverse(answer.Runs)
		for i, run := range answer.Runs {
			if run.Outcome != "ok" {
				t.Errorf("run %+v", run)
			}
			if i > 0 && run.Planned.Sub(answer.Runs[i-1].Planned) != time.Second {
				t.Errorf("between %v and %v a firing is missing", answer.Runs[i-1].Planned, run.Planned)
			}
		}
		// Telegram cannot tell whether it has a message whose answer was lost:
		// besides those, each run was sent once.
		if sent := count(w.texts(w.owner.DM()), "the news of tick"); sent < len(answer.Runs) || sent > len(answer.Runs)+3 {
			t.Errorf("%d runs, %d messages", len(answer.Runs), sent)
		}
	})
}

// ended is how many runs of a schedule ended in this life of the gateway or an
// earlier one.
func (n *newsroom) ended(id string) int {
	ended := 0
	for _, run := range n.runs(id) {
		if run.Outcome != "" {
			ended++
		}
	}
	return ended
}

// What the configuration file declares is there after the start, and gone after
// the start without it.
func TestDeclaredSchedules(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		file := filepath.Join(t.TempDir(), "gateway.yaml")
		if err := os.WriteFile(file, []byte("schedules:\n  - {id: declared, cron: '@yearly', prompt: x}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		schedules := func() int {
			var answer struct{ Schedules []json.RawMessage }
			w.api(http.MethodGet, "/v1/schedules", nil, &answer)
			return len(answer.Schedules)
		}
		w.flags = []string{"--config", file}
		w.start()
		w.eventually("it is there", func() bool { return schedules() == 1 })
		w.stop()
		w.flags = nil
		w.start()
		w.eventually("it is gone", func() bool { return schedules() == 0 })
	})
}
