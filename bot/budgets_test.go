package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"parley/adapters"
	"parley/agent"
	"parley/bot/budget"
	"parley/bot/texts"
	"parley/routing"
)

// held is a brain that answers nobody but owners until it is released.
func (s *stage) holds() (release func()) {
	let := make(chan struct{})
	s.brain.answers(func(ctx context.Context, request agent.Request, _ func(string)) (agent.Answer, error) {
		text := request.Messages[len(request.Messages)-1].Text
		if strings.Contains(text, "topic") {
			select {
			case <-let:
			case <-ctx.Done():
			}
		}
		return agent.Answer{Text: "re: " + text}, ctx.Err()
	})
	return func() { close(let) }
}

// A guest who asks in many topics at once has a few of the turns; the rest
// waits in the store. The owner is answered meanwhile, the guest is told once,
// and in the end everything is answered, once.
func TestOneGuestDoesNotTakeAllTurns(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		const topics, atOnce = 8, 2
		s := newStage(t, on, func(c *Config) {
			c.Policy.Access.Groups = routing.GroupsAnyone
			c.Limits = budget.Limits{Reserve: 1, Guests: budget.Rate{AtOnce: atOnce}}
		})
		release := s.holds()
		for i := range topics {
			e := s.event("guest", fmt.Sprintf("@bot topic %d", i), true)
			e.Surface.Thread, e.Mentioned = fmt.Sprint(i), true
			s.takeIn(e)
		}
		s.platform.until(t, "the guest is told", func() bool {
			return strings.Contains(strings.Join(textsOf(s.platform.sent), "\n"), texts.Waits)
		})
		s.says("owner", "are you there?")
		s.hears("re: are you there?")
		if n := len(s.brain.asked()); n > atOnce+1 {
			t.Errorf("%d model calls, of which the owner's is one", n)
		}
		release()
		s.platform.until(t, "all answers", func() bool { return len(answersOf(s.platform.sent)) == topics })
		if told := times(textsOf(s.platform.sent), texts.Waits); told != 1 {
			t.Errorf("the guest was told %d times", told)
		}
		if n := len(s.brain.asked()); n != topics+1 {
			t.Errorf("%d model calls for %d messages", n, topics+1)
		}
	})
}

// answersOf are the answers to topics, each once.
func answersOf(sent []adapters.Outgoing) map[string]bool {
	out := map[string]bool{}
	for _, text := range textsOf(sent) {
		if strings.Contains(text, "topic") {
			out[text] = true
		}
	}
	return out
}

func TestAMembersScheduleIsAtMostOnceAMinute(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.asks("member", `/schedule add "every 1s" id=spam Say tick`, "more often than once a minute")
	s.asks("member", `/schedule add "every 1m" id=fine Say tick`, "is set")
	s.asks("owner", `/schedule add "every 30s" id=mine Say tick`, "is set")
}
