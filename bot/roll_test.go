package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"parley/adapters"
	"parley/bot/texts"
	"parley/sessions"
)

// left is the platform's word that somebody is not in the group any more.
func (s *stage) left(who string) {
	s.t.Helper()
	event := s.event(who, "", true)
	event.Kind, event.Surface.Thread = adapters.EventLeft, ""
	s.takeIn(event)
	s.takeIn(event) // delivered once more
}

// inGroup is a conversation of the group in which two members have spoken.
func (s *stage) inGroup() sessions.Record {
	s.t.Helper()
	s.saysInGroup("owner", "@bot hello all")
	s.hears("[OWNER] @bot hello all")
	s.saysInGroup("member", "@bot hello too")
	s.hears("[MEMBER] @bot hello too")
	return s.idle("group")
}

// Who left a group, or was put out, reads nothing more of it and writes nothing
// into it: not where they had taken it up before, not by its id.
func TestWhoLeftAGroupIsOutOfItsConversation(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, on option) {
		s := newStage(t, on)
		group := s.inGroup()
		s.ask("member", "/resume "+group.ID)
		s.left("member")
		s.saysInGroup("owner", "now that they are gone: the SECRET is 4711")
		s.hears("SECRET is 4711")
		s.idle("group")
		for _, command := range []string{"/tree", "/status", "/sessions all", "/resume " + group.ID, "/resume 1"} {
			if answer := s.ask("member", command); strings.Contains(answer, "4711") || strings.Contains(answer, "hello all") || strings.HasPrefix(answer, "You are in") {
				t.Errorf("%s: %q", command, answer)
			}
		}
		before := s.record("group")
		s.says("member", "what do they say?")
		s.hears("echo: what do they say?")
		for _, request := range s.brain.asked() {
			last := request.Messages[len(request.Messages)-1].Text
			for _, message := range request.Messages {
				if strings.Contains(last, "what do they say") && strings.Contains(message.Text, "4711") {
					t.Errorf("the model reads for who left: %q", message.Text)
				}
			}
		}
		if own := s.record("member"); own.ID == group.ID || own.Source.Type != sessions.Direct {
			t.Errorf("their chat goes on with %+v", own)
		}
		after := s.record("group")
		if after.ID != group.ID || after.Seq != before.Seq || after.State != sessions.StateActive {
			t.Errorf("the group's conversation is %+v, was %+v", after, before)
		}
		s.saysInGroup("member", "back again")
		if answer := s.ask("member", "/resume "+group.ID); !strings.HasPrefix(answer, "You are in") {
			t.Errorf("who came back: %q", answer)
		}
	})
}

// Who left begins anew in their own chat, and the group's conversation goes on.
func TestNewAfterLeavingLeavesTheGroupAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	group := s.inGroup()
	s.ask("member", "/resume "+group.ID)
	s.left("member")
	s.ask("member", "/new")
	if at := s.record("member"); at.ID == group.ID {
		t.Errorf("after /new they are in %+v", at)
	}
	if after := s.record("group"); after.ID != group.ID || after.State != sessions.StateActive || after.Status != sessions.StatusIdle {
		t.Errorf("the group's conversation is %+v", after)
	}
}

// A departure concerns the chat that was left with all its threads, and
// nothing else that they take part in.
func TestLeavingConcernsOneChat(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.inGroup()
	for _, change := range []func(*adapters.Event){
		func(e *adapters.Event) { e.Surface.Thread = "7" },
		func(e *adapters.Event) { e.Surface.Chat = "other" },
	} {
		for _, who := range []string{"owner", "member"} {
			event := s.event(who, "hello there", true)
			change(&event)
			s.takeIn(event)
		}
	}
	old := s.record("group").ID
	s.answers(s.event("owner", "/new", true))
	copied := s.forkOf(old)
	s.left("member")
	for key, want := range map[string]bool{"telegram:77:group:7": false, "telegram:77:other": true} {
		if record := s.bound(key); takesPart(record, "telegram:member") != want {
			t.Errorf("%s has the participants %q", key, record.Participants)
		}
	}
	for id, want := range map[string]bool{old: false, copied: true} {
		record, err := s.store.Get(t.Context(), id)
		if err != nil || takesPart(record, "telegram:member") != want {
			t.Errorf("%s has the participants %q, %v", id, record.Participants, err)
		}
	}
}

// forkOf is a copy that the member made of a conversation.
func (s *stage) forkOf(id string) string {
	s.t.Helper()
	s.ask("member", "/resume "+id)
	s.ask("member", "/fork")
	record := s.record("member")
	if record.ParentSession != id {
		s.t.Fatalf("the copy is %+v", record)
	}
	return record.ID
}

// What the group hears is not copied into a chat where one of them had taken its
// conversation up: nobody may ever tell that they left.
func TestAGroupsAnswersAreNotCopiedIntoDirectChats(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(c *Config) { c.Fanout = true })
	group := s.inGroup()
	for surface, isGroup := range map[string]bool{"telegram:77:-5": true, "telegram:77:5": false, "discord:9:5": false} {
		if _, _, err := s.store.Attach(t.Context(), sessions.AttachRequest{Session: group.ID, Surface: surface, Group: isGroup}); err != nil {
			t.Fatal(err)
		}
	}
	// The test's own group has a name that tells nothing; it is where all began.
	event := s.event("owner", "@bot for groups only", true)
	event.Surface.Chat = "-5"
	s.takeIn(event)
	s.hears("for groups only")
	s.idle("group")
	s.end()
	var chats []string
	for _, sent := range s.platform.sent {
		if strings.Contains(sent.Text, "for groups only") {
			chats = append(chats, sent.Surface.Chat)
		}
	}
	if slices.Sort(chats); !slices.Equal(chats, []string{"-5", "group"}) {
		t.Errorf("shown in %q", chats)
	}
}

func (s *stage) bound(key string) sessions.Record {
	s.t.Helper()
	record, err := s.store.Bound(s.t.Context(), key)
	if err != nil {
		s.t.Fatal(err)
	}
	return record
}

func takesPart(record sessions.Record, user string) bool {
	return sessions.Reach(record, sessions.Caller{User: sessions.User{ID: user}}) == nil
}

// askedPlatform is one that can be asked who is in its group.
type askedPlatform struct {
	*platform
	answer *atomic.Pointer[func(who adapters.Identity) (bool, error)]
}

func (p askedPlatform) InChat(_ context.Context, surface adapters.Surface, who adapters.Identity) (bool, error) {
	if surface.Chat != "group" || surface.Account != account {
		return false, errors.New("another chat: " + surface.Key())
	}
	return (*p.answer.Load())(who)
}

// Where a platform tells nothing of who leaves, it is asked when a group's
// conversation is taken up elsewhere. No answer is a refusal, and no departure.
func TestAGroupsConversationIsResumedByWhoIsInTheGroup(t *testing.T) {
	t.Parallel()
	var answer atomic.Pointer[func(adapters.Identity) (bool, error)]
	says := func(in bool, err error) {
		f := func(adapters.Identity) (bool, error) { return in, err }
		answer.Store(&f)
	}
	s := newStage(t, func(c *Config) {
		c.Adapters = []adapters.Adapter{askedPlatform{c.Adapters[0].(*platform), &answer}}
	})
	group := s.inGroup()
	says(true, nil)
	if answer := s.ask("member", "/resume "+group.ID); !strings.HasPrefix(answer, "You are in") {
		t.Errorf("a member of the group: %q", answer)
	}
	s.ask("member", "/new")
	says(false, errors.New("too many requests"))
	if answer := s.ask("member", "/resume "+group.ID); answer != texts.Untold {
		t.Errorf("not known: %q", answer)
	}
	if !takesPart(s.record("group"), "telegram:member") {
		t.Error("who is not known to have left takes no part any more")
	}
	says(false, nil)
	if answer := s.ask("owner", "/resume "+group.ID); !strings.HasPrefix(answer, "You are in") {
		t.Errorf("an owner: %q", answer)
	}
	if answer := s.ask("member", "/resume "+group.ID); answer != texts.NoSuchSession {
		t.Errorf("who left: %q", answer)
	}
	if takesPart(s.record("group"), "telegram:member") {
		t.Error("who left takes part")
	}
}
