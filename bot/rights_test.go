package bot

import (
	"strings"
	"testing"

	"parley/adapters"
	"parley/bot/texts"
	"parley/routing"
	"parley/sessions"
)

const refusedText = "You may not use this command here. /help lists those you may."

// Who takes part in a group's conversation and goes on with it in his own chat
// may do there with it what he may do in the group.
func TestAGroupsConversationStaysTheGroups(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.saysInGroup("owner", "@bot hello all")
	s.hears("[OWNER] @bot hello all")
	s.saysInGroup("member", "@bot hello too")
	s.hears("[MEMBER] @bot hello too")
	group := s.idle("group")
	s.ask("member", "/resume "+group.ID)
	if at := s.record("member").ID; at != group.ID {
		t.Fatalf("the chat goes on with %s", at)
	}
	if answer := s.ask("member", "/clear"); answer != refusedText {
		t.Errorf("%q", answer)
	}
	for _, command := range []string{"/name Mine", "/label here", "/retry", "/branch start"} {
		s.says("member", command)
	}
	if answer := s.ask("member", "/status"); !strings.HasPrefix(answer, "Session") {
		t.Errorf("%q", answer)
	}
	s.ask("member", "/new")
	if at := s.record("member"); at.ID == group.ID || at.Source.Type != sessions.Direct {
		t.Errorf("after /new the chat goes on with %+v", at)
	}
	after := s.record("group")
	if after.ID != group.ID || after.Cleared != 0 || after.Name != "" || after.State != sessions.StateActive || after.Status != sessions.StatusIdle {
		t.Errorf("the group's conversation is now %+v", after)
	}
	if answer := s.ask("owner", "/resume "+group.ID); answer == texts.NoSuchSession {
		t.Error(answer)
	}
	s.ask("owner", "/name Ours")
	if name := s.record("group").Name; name != "Ours" {
		t.Errorf("an owner named it %q", name)
	}
}

// Whoever is refused hears why once in ten minutes, and a stranger who they are:
// nobody can fill a chat with the bot's answers.
func TestRefusalsAreRare(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(c *Config) { c.Policy.Access.Groups = routing.GroupsAnyone })
	if answer := s.answers(s.event("guest", "/new", true)); answer != refusedText {
		t.Fatalf("%q", answer)
	}
	expect(t, s.answers(s.event("guest", "/whoami", true)), "telegram:guest")
	for range 20 {
		s.saysInGroup("guest", "/new")
		s.saysInGroup("guest", "/clear")
		s.saysInGroup("guest", "/whoami")
	}
	expect(t, s.answers(s.event("owner", "/whoami", true)), "telegram:owner")
	expect(t, s.answers(s.event("member", "/new", true)), refusedText)

	expect(t, s.ask("guest", "/whoami"), "telegram:guest")
	for range 20 {
		s.says("guest", "/whoami")
	}
	expect(t, s.ask("guest", "/help"), "/whoami")

	native := s.event("guest", "", true)
	native.Command = &adapters.NativeCommand{Name: "clear"}
	if answer := s.answers(native); answer != refusedText {
		t.Fatalf("a platform's own command was left without an answer: %q", answer)
	}
}
