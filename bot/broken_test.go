package bot

import (
	"context"
	"errors"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// breaking answers with the beginning of an answer.
func breaking(context.Context, agent.Request, func(string)) (agent.Answer, error) {
	return agent.Answer{Text: "half an"}, &agent.ModelError{Kind: agent.KindBrokenStream, Reason: "cut"}
}

// What there is of an answer that broke off is in the log, once, as of one that
// was stopped; the turn can be run again, and then its model does not read it.
func TestABrokenAnswerIsKept(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		s.brain.answers(breaking)
		s.says("owner", "hello")
		s.hears("broke off")
		var kinds []string
		for _, entry := range s.entries(s.idle("owner")) {
			m, _ := entry.Message()
			kinds = append(kinds, string(entry.Type)+" "+m.Text)
			if m.Role == sessions.RoleAssistant && (!m.Partial || m.Stopped) {
				t.Errorf("it is not marked: %+v", m)
			}
		}
		if got := strings.Join(kinds, ", "); !strings.HasPrefix(got, "message hello, message half an, error ") {
			t.Errorf("the log: %s", got)
		}
		s.brain.answers(nil)
		s.says("owner", "/retry")
		s.hears("echo: hello")
		s.idle("owner")
		s.brain.answers(breaking)
		s.says("owner", "again")
		s.platform.until(t, "the second failure", func() bool {
			return strings.Count(strings.Join(textsOf(s.platform.sent), "\n"), "broke off") == 2
		})
		s.idle("owner")
		s.brain.answers(nil)
		s.says("owner", "bye")
		s.hears("echo: bye")
		for i, want := range []string{"hello", "hello", "hello|echo: hello|again", "hello|echo: hello|again|half an|bye"} {
			var read []string
			for _, m := range s.brain.asked()[i].Messages {
				read = append(read, m.Text)
			}
			if got := strings.Join(read, "|"); got != want {
				t.Errorf("request %d: %s", i, got)
			}
		}
		if letters, err := s.store.DeadLetters(t.Context(), 10); err != nil || len(letters) != 1 {
			t.Errorf("dead letters %v %v", letters, err)
		}
	})
}

func TestWhatAFilterWithheldIsNotKept(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{Text: "how to"}, &agent.ModelError{Kind: agent.KindFiltered}
	})
	s.says("owner", "hello")
	s.hears("filter")
	for _, entry := range s.entries(s.idle("owner")) {
		if strings.Contains(string(entry.Payload), "how to") {
			t.Errorf("it is kept: %s", entry.Payload)
		}
	}
}

// Nobody has read the beginning of a schedule's answer, and nobody gets it.
func TestASchedulesBrokenAnswerIsNotDelivered(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{Text: "half an"}, &agent.ModelError{Kind: agent.KindBrokenStream, Err: errors.New("cut")}
	})
	s.asks("owner", `/schedule add "every 1s" id=bad Try`, "is set")
	s.hears("⚠ The schedule `bad`")
	s.retrying("bad")
	for _, text := range s.platform.texts() {
		if strings.Contains(text, "half an") {
			t.Errorf("sent %q", text)
		}
	}
	page, err := s.store.Find(t.Context(), sessions.Query{})
	if err != nil || len(page.Records) == 0 {
		t.Fatal(page, err)
	}
	for _, record := range page.Records {
		for _, entry := range s.entries(record) {
			if strings.Contains(string(entry.Payload), "half an") {
				t.Errorf("%s has it: %s", record.ID, entry.Payload)
			}
		}
	}
}
