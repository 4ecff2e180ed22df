package bot

import (
	"context"
	"strings"
	"testing"

	"parley/adapters"
	"parley/agent"
	"parley/bot/texts"
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
