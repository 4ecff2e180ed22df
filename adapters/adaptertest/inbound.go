package adaptertest

import (
	"errors"
	"fmt"
	"sync"

	"parley/adapters"
)

// testSurfaces: every place has a surface of its own whose key survives being
// stored, and it is known what is direct.
func testSurfaces(s *stage) {
	r := s.run(nil)
	seen := map[string]string{}
	for name, place := range s.places() {
		event := r.say(place, "hello "+name)
		key := event.Surface.Key()
		parsed, err := adapters.ParseSurface(key)
		if err != nil || parsed != event.Surface {
			s.t.Errorf("%s: the key %q reads back as %+v, %v", name, key, parsed, err)
		}
		if other, taken := seen[key]; taken {
			s.t.Errorf("%s and %s have one key %q", name, other, key)
		}
		seen[key] = name
		if event.Surface.Platform != r.Capabilities().Platform || event.Surface.Account != r.Account() || r.Account() == "" {
			s.t.Errorf("%s: surface %q is not of account %q", name, key, r.Account())
		}
		if event.Direct != (place == s.Direct) {
			s.t.Errorf("%s: Direct is %v", name, event.Direct)
		}
		checkMessage(s, name, event)
	}
}

func checkMessage(s *stage, name string, event adapters.Event) {
	s.t.Helper()
	switch {
	case event.Text != "hello "+name:
		s.t.Errorf("%s: the text is %q", name, event.Text)
	case event.ID == "" || event.Time.IsZero() || event.Sender.ID == "":
		s.t.Errorf("%s: the event lacks id, time or sender: %+v", name, event)
	case event.Sender.Bot || event.Sender.Self || event.Sender.Unverified:
		s.t.Errorf("%s: a person is %+v", name, event.Sender)
	}
}

// testSuccessorSurfaces: another adapter, which has not seen how the places
// began, gives them the same keys.
func testSuccessorSurfaces(s *stage) {
	first := s.run(nil)
	keys := map[string]string{}
	for name, place := range s.places() {
		keys[name] = first.say(place, "hello "+name).Surface.Key()
	}
	first.stop()
	second := s.run(nil)
	for name, place := range s.places() {
		if key := second.say(place, "hello again "+name).Surface.Key(); key != keys[name] {
			s.t.Errorf("%s was %q and is %q for a successor", name, keys[name], key)
		}
	}
}

// testAddressed: what names the bot or answers it is known from the rest.
func testAddressed(s *stage) {
	r := s.run(nil)
	if event := r.say(s.Group, "among ourselves"); event.Mentioned || event.ReplyToBot {
		s.t.Errorf("an ordinary line counts as addressed: %+v", event)
	}
	if event := r.message(s.PostMention(s.Group, "what is this")); !event.Mentioned {
		s.t.Errorf("a mention is not seen: %+v", event)
	}
	if s.PostReply == nil {
		s.t.Log("the platform has threads instead of replies: not tested")
		return
	}
	surface := r.say(s.Group, "where").Surface
	receipt, err := r.send(adapters.Outgoing{Surface: surface, Text: "an answer", DeliveryID: "addressed-1"})
	if err != nil {
		s.t.Fatal(err)
	}
	id := receipt.MessageIDs[0]
	event := r.message(s.PostReply(s.Group, id, "are you sure"))
	if !event.ReplyToBot || event.ReplyTo != id {
		s.t.Errorf("a reply to the bot's message %s is not seen: %+v", id, event)
	}
}

// testOwnMessages: what the bot itself wrote does not come back as somebody's.
func testOwnMessages(s *stage) {
	r := s.run(nil)
	surface := r.say(s.Group, "where").Surface
	if _, err := r.send(adapters.Outgoing{Surface: surface, Text: "from the bot itself", DeliveryID: "own-1"}); err != nil {
		s.t.Fatal(err)
	}
	r.say(s.Group, "after it")
	events, _ := r.taken()
	for _, event := range events {
		if event.Text == "from the bot itself" && !event.Sender.Self {
			s.t.Errorf("the bot's own message comes as %+v", event.Sender)
		}
	}
}

// testSenders: bots are bots, and who cannot be known is unverified.
func testSenders(s *stage) {
	r := s.run(nil)
	if s.PostBot == nil {
		s.t.Log("the platform shows no other bots: not tested")
	} else if event := r.message(s.PostBot(s.Group, "beep")); !event.Sender.Bot || event.Sender.Self {
		s.t.Errorf("another bot is %+v", event.Sender)
	}
	if s.PostUnverified == nil {
		s.t.Log("the platform has no unverified senders: not tested")
	} else if event := r.message(s.PostUnverified(s.Group, "boo")); !event.Sender.Unverified {
		s.t.Errorf("an unverified sender is %+v", event.Sender)
	}
}

// testDuplicate: one happening has one id however often it comes, and two
// happenings have two.
func testDuplicate(s *stage) {
	r := s.run(nil)
	first, other := r.say(s.Group, "once"), r.say(s.Group, "another")
	if first.ID == other.ID {
		s.t.Errorf("two messages have the one id %q", first.ID)
	}
	s.Redeliver(s.Group, first.MessageID)
	r.say(s.Group, "after it")
	events, _ := r.taken()
	for _, event := range events {
		if event.MessageID == first.MessageID && event.ID != first.ID {
			s.t.Errorf("delivered again, %q has the id %q", first.ID, event.ID)
		}
	}
}

// testEdits: an edit is an event of its own, each edit another one.
func testEdits(s *stage) {
	if s.Edit == nil {
		s.t.Skip("the platform tells nothing of edits")
	}
	r := s.run(nil)
	original := r.say(s.Group, "frist")
	ids := map[string]bool{original.ID: true}
	for i, text := range []string{"first", "the first"} {
		s.Edit(s.Group, original.MessageID, text)
		edits := r.await(i+1, "edits", func(e adapters.Event) bool { return e.Kind == adapters.EventEdit })
		edit := edits[i]
		if edit.Text != text || edit.MessageID != original.MessageID || edit.Surface != original.Surface || edit.Sender.ID != original.Sender.ID {
			s.t.Errorf("edit %d is %+v", i, edit)
		}
		if ids[edit.ID] {
			s.t.Errorf("edit %d has an id that was there before: %q", i, edit.ID)
		}
		ids[edit.ID] = true
	}
}

// testLeaving: who is not in a chat any more is known, because the platform
// tells or because it is asked; that somebody came back too.
func testLeaving(s *stage) {
	r := s.run(nil)
	there := r.say(s.Group, "while I am here")
	roll, asks := r.Adapter.(adapters.Roll)
	if !asks && !s.TellsLeaving {
		s.t.Fatal("nothing tells that somebody left a chat")
	}
	inChat := func(want bool) {
		s.t.Helper()
		if !asks {
			return
		}
		in, err := roll.InChat(s.t.Context(), there.Surface, there.Sender.ID)
		if err != nil || in != want {
			s.t.Errorf("%s is in the chat: %v, %v; want %v", there.Sender.ID, in, err, want)
		}
		stranger := adapters.NewIdentity("elsewhere", "1")
		if in, err := roll.InChat(s.t.Context(), there.Surface, stranger); err == nil || in {
			s.t.Errorf("somebody of another platform is in the chat: %v, %v", in, err)
		}
	}
	inChat(true)
	s.Leave(s.Group)
	inChat(false)
	if s.TellsLeaving {
		left := r.await(1, "a departure", func(e adapters.Event) bool { return e.Kind == adapters.EventLeft })[0]
		if left.Surface.ChatKey() != there.Surface.ChatKey() || left.Surface.Thread != "" || left.Direct || left.Sender.ID != there.Sender.ID || left.ID == "" {
			s.t.Errorf("who left is %+v, was %+v", left, there)
		}
	}
	r.say(s.Group, "back again")
	inChat(true)
}

// testStrange: what nobody knows does not stop the stream, and is acknowledged.
func testStrange(s *stage) {
	r := s.run(nil)
	s.Strange()
	event := r.say(s.Group, "still there")
	s.Strange()
	r.say(s.Direct, "still here")
	s.Await(s.t, "acknowledgement over strange events", func() bool { return s.Acknowledged(event.MessageID) })
	if state := r.Health().State; state != adapters.Hearing {
		s.t.Errorf("after strange events the adapter is %s", state)
	}
	if len(s.log.text()) == 0 {
		s.t.Error("strange events leave no line in the log")
	}
}

var errNotTaken = errors.New("the store is away")

// testNotTaken: an event that the sink refuses is not acknowledged and comes
// again until it is taken, and then is acknowledged.
func testNotTaken(s *stage) {
	const tries = 3
	var mu sync.Mutex
	offered, early := 0, false
	r := s.run(func(event adapters.Event) error {
		if event.Text != "take me" {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		offered++
		early = early || s.Acknowledged(event.MessageID)
		if offered < tries {
			return errNotTaken
		}
		return nil
	})
	event := r.say(s.Group, "take me")
	s.Await(s.t, "acknowledgement of what was taken", func() bool { return s.Acknowledged(event.MessageID) })
	mu.Lock()
	defer mu.Unlock()
	if offered < tries || early { // more: where its acknowledgement was lost
		s.t.Errorf("offered %d times, acknowledged before it was taken: %v", offered, early)
	}
}

// testKilled: what was not taken when an adapter ends comes to its successor.
func testKilled(s *stage) {
	refused := make(chan struct{}, 100)
	first := s.run(func(event adapters.Event) error {
		if event.Text == "do not lose me" {
			select {
			case refused <- struct{}{}:
			default:
			}
			return errNotTaken
		}
		return nil
	})
	first.say(s.Direct, "before it")
	id := s.Post(s.Group, "do not lose me")
	<-refused
	first.stop()
	if s.Acknowledged(id) {
		s.t.Error("an event that was never taken is acknowledged")
	}
	meanwhile := s.Post(s.Direct, "while nobody listened")
	second := s.run(nil)
	second.message(id)
	second.message(meanwhile)
}

// testOrder: each place keeps its order, whatever the sink's moods.
func testOrder(s *stage) {
	const count = 40
	var mu sync.Mutex
	offers := 0
	r := s.run(func(adapters.Event) error {
		mu.Lock()
		defer mu.Unlock()
		offers++
		if offers%7 == 3 {
			return errNotTaken
		}
		return nil
	})
	for i := range count {
		s.Post(s.Group, fmt.Sprintf("group %03d", i))
		s.Post(s.Direct, fmt.Sprintf("direct %03d", i))
	}
	events := r.await(2*count, "messages", func(e adapters.Event) bool { return e.Kind == adapters.EventMessage })
	last := map[adapters.Surface]adapters.Event{}
	for _, event := range events {
		before, seen := last[event.Surface]
		if seen && (before.Text >= event.Text || before.Sequence > event.Sequence) {
			s.t.Errorf("%q (%d) comes after %q (%d)", event.Text, event.Sequence, before.Text, before.Sequence)
		}
		last[event.Surface] = event
	}
}

// testReconnect: a connection that breaks is made again, and nothing is lost.
func testReconnect(s *stage) {
	r := s.run(nil)
	r.say(s.Group, "before")
	s.Disconnect()
	id := s.Post(s.Group, "in between")
	r.message(id)
	r.say(s.Direct, "after")
	s.hears(r)
}
