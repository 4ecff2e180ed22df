package bot

import (
	"testing"

	"parley/sessions"
)

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
	for _, command := range []string{"/clear", "/name Mine", "/label here", "/retry", "/branch start"} {
		if answer := s.ask("member", command); answer != "You may not use this command here. /help lists those you may." {
			t.Errorf("%s: %q", command, answer)
		}
	}
	if answer := s.ask("member", "/status"); answer == "" {
		t.Error("no status")
	}
	s.ask("member", "/new")
	if at := s.record("member"); at.ID == group.ID || at.Source.Type != sessions.Direct {
		t.Errorf("after /new the chat goes on with %+v", at)
	}
	after := s.record("group")
	if after.ID != group.ID || after.Cleared != 0 || after.Name != "" || after.State != sessions.StateActive || after.Status != sessions.StatusIdle {
		t.Errorf("the group's conversation is now %+v", after)
	}
	if answer := s.ask("owner", "/resume "+group.ID); answer == textNoSuchSession {
		t.Error(answer)
	}
	s.ask("owner", "/name Ours")
	if name := s.record("group").Name; name != "Ours" {
		t.Errorf("an owner named it %q", name)
	}
}
