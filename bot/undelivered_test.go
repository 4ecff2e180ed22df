package bot

import (
	"context"
	"strings"
	"testing"

	"parley/adapters"
	"parley/agent"
	"parley/bot/texts"
	"parley/sessions"
)

// A reply that the platform refuses is not given up in the log alone: its chat
// is told in one line, and an owner where, once for all parts of the reply.
func TestAReplyThatIsGivenUpIsToldInItsChatAndToAnOwner(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.talks("owner", "hello")
	s.brain.answers(func(context.Context, agent.Request, func(string)) (agent.Answer, error) {
		return agent.Answer{Text: strings.Repeat("refused ", 2*partMax/8)}, nil
	})
	s.platform.mu.Lock()
	s.platform.fail = func(message adapters.Outgoing) error {
		if strings.Contains(message.Text, "refused refused") {
			return &adapters.SendError{Kind: adapters.SendRefused, Reason: "ENTITIES_TOO_LONG"}
		}
		return nil
	}
	s.platform.mu.Unlock()
	s.says("member", "go")
	s.hears(texts.Undelivered)
	s.hears("ENTITIES_TOO_LONG")
	s.end()
	var chats []string
	for _, sent := range s.platform.sent[1:] {
		chats = append(chats, sent.Surface.Chat)
	}
	if strings.Join(chats, " ") != "member owner" && strings.Join(chats, " ") != "owner member" {
		t.Errorf("told in %q: %q", chats, s.platform.texts())
	}
}

// The line that tells of it is stored before the row's end is: a process that
// dies in between tells of it again, and once.
func TestThatAReplyIsGivenUpIsStoredBeforeItIsGivenUp(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		s.talks("owner", "hello")
		chat := s.talks("member", "hello")
		surface := s.event("member", "", false).Surface.Key()
		row := sessions.Delivery{ID: "d-1", Session: chat.ID, Entry: 2, Surface: surface}
		err := &adapters.SendError{Kind: adapters.SendRefused, Reason: "no"}
		for range 2 {
			s.bot.announcer.givenUp(s.bot.life, row, sessions.DeliveryFailed, err)
			for _, key := range []string{"undelivered:" + chat.ID + ":2:" + surface, "undelivered:" + chat.ID + ":2:" + surface + ":0"} {
				on := surface
				if strings.HasSuffix(key, ":0") {
					on = s.event("owner", "", false).Surface.Key()
				}
				result, err := s.store.Enqueue(t.Context(), sessions.EnqueueRequest{Key: key, Deliveries: []sessions.NewDelivery{{Surface: on, Payload: []byte(`{}`)}}})
				if err != nil || !result.Duplicate {
					t.Errorf("%s is not stored: %+v, %v", key, result, err)
				}
			}
		}
		s.hears(texts.Undelivered)
	})
}

// What cannot be told is not told of: no notice begets another.
func TestANoticeThatIsRefusedBegetsNoOther(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.talks("owner", "hello")
	tried := make(chan struct{}, 16)
	s.platform.mu.Lock()
	s.platform.fail = func(adapters.Outgoing) error {
		tried <- struct{}{}
		return &adapters.SendError{Kind: adapters.SendRefused, Reason: "no"}
	}
	s.platform.mu.Unlock()
	s.says("owner", "go")
	<-tried // the reply
	<-tried // that it was given up
	s.end()
	if len(tried) != 0 {
		t.Errorf("%d more messages were tried", len(tried))
	}
}
