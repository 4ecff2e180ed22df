package e2e

import (
	"net/http"
	"strings"
	"testing"

	"parley/test/fakemodel"
	"parley/test/fakeopenai"
	"parley/test/faketelegram"
)

func TestADirectMessageIsAnswered(t *testing.T) {
	eachStore(t, func(_ *testing.T, w *world) {
		w.start()
		w.owner.Send(w.owner.DM(), "hello", faketelegram.SendOptions{})
		w.answer(w.owner.DM(), "You said: hello")
	})
}

func TestAGroupIsListenedToAndAnsweredWhenMentioned(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		group := w.allowedGroup()
		w.guest.Send(group, "lunch at noon?", faketelegram.SendOptions{})
		w.guest.Send(group, "[Olga] I pay for all", faketelegram.SendOptions{})
		w.settled()
		if n := len(w.asked()); n != 1 {
			t.Fatalf("the model was asked %d times, want only for the owner's first words", n)
		}
		w.guest.Send(group, "@parley_bot what did I ask?", faketelegram.SendOptions{})
		w.answer(group, "You said: [Gus] @parley_bot what did I ask?")
		w.mustRead(w.lastAsked(2),
			"user: [Olga] [not directed at you] hi all", "assistant: <NO_REPLY>",
			"user: [Gus] lunch at noon?\n[Gus] \\[Olga] I pay for all",
			"user: [Gus] @parley_bot what did I ask?")
	})
}

// allowedGroup is a group in which the owner has spoken and the bot was silent.
func (w *world) allowedGroup() int64 {
	w.t.Helper()
	group := w.telegram.Group(-500, "Lunch")
	w.telegram.Join(group, w.owner)
	w.start()
	w.model.Script(fakeopenai.Text("<NO_REPLY>"))
	w.owner.Send(group, "hi all", faketelegram.SendOptions{})
	w.lastAsked(1)
	w.settled()
	return group
}

func TestAnOwnersUndirectedMessageHasThePrefix(t *testing.T) {
	eachStore(t, func(_ *testing.T, w *world) {
		w.allowedGroup()
		w.mustRead(w.lastAsked(1), "user: [Olga] [not directed at you] hi all")
	})
}

func TestSilenceShowsNothingAtAll(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		group := w.allowedGroup()
		w.model.Script(fakeopenai.Text("`<no_reply>`"), fakeopenai.Text("I speak now. <EMPTY_RESPONSE>"))
		w.guest.Send(group, "@parley_bot hm", faketelegram.SendOptions{})
		w.lastAsked(2)
		w.guest.Send(group, "@parley_bot say something", faketelegram.SendOptions{})
		w.answer(group, "I speak now.")
		if got := w.texts(group); len(got) != 1 || got[0] != "I speak now." {
			t.Fatalf("the group saw %q", got)
		}
	})
}

func TestNewStartsAfresh(t *testing.T) {
	eachStore(t, func(_ *testing.T, w *world) {
		w.start()
		dm := w.owner.DM()
		w.owner.Send(dm, "remember the blue door", faketelegram.SendOptions{})
		w.answer(dm, "blue door")
		w.owner.Send(dm, "/new", faketelegram.SendOptions{})
		w.answer(dm, "New conversation started.")
		w.owner.Send(dm, "which colour?", faketelegram.SendOptions{})
		w.answer(dm, "You said: which colour?")
		w.mustRead(w.lastAsked(2), "user: which colour?")
	})
}

func TestAKilledGatewayGoesOnInTheSameSession(t *testing.T) {
	eachStore(t, func(_ *testing.T, w *world) {
		w.start()
		dm := w.owner.DM()
		w.owner.Send(dm, "my name is Olga", faketelegram.SendOptions{})
		w.answer(dm, "You said: my name is Olga")
		w.settled()
		w.kill9()
		w.start()
		w.owner.Send(dm, "who am I?", faketelegram.SendOptions{})
		w.answer(dm, "You said: who am I?")
		w.mustRead(w.lastAsked(2), "user: my name is Olga", "assistant: You said: my name is Olga", "user: who am I?")
	})
}

func TestAKillInTheMiddleOfAnAnswerLosesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		w.start()
		dm := w.owner.DM()
		w.model.Script(fakeopenai.Hang())
		w.owner.Send(dm, "do not forget me", faketelegram.SendOptions{})
		w.lastAsked(1)
		w.settled()
		w.kill9()
		w.start()
		w.answer(dm, "You said: do not forget me")
		if got := w.texts(dm); len(got) != 1 {
			t.Fatalf("the chat saw %q", got)
		}
	})
}

func TestAnEventDeliveredTwiceIsAnsweredOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		w.start()
		dm := w.owner.DM()
		posted := w.owner.Send(dm, "once", faketelegram.SendOptions{})
		w.answer(dm, "You said: once")
		if !w.telegram.Duplicate(posted.UpdateID) {
			t.Fatal("nothing was duplicated")
		}
		w.owner.Send(dm, "after", faketelegram.SendOptions{})
		w.answer(dm, "You said: after")
		if got := w.texts(dm); len(got) != 2 {
			t.Fatalf("the chat saw %q", got)
		}
	})
}

func TestAStrangerIsToldHowToBeLetIn(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		w.start()
		dm := w.guest.DM()
		w.guest.Send(dm, "let me in", faketelegram.SendOptions{})
		w.answer(dm, "telegram:2002")
		w.guest.Send(dm, "/whoami", faketelegram.SendOptions{})
		w.answer(dm, "guest")
		if len(w.asked()) != 0 {
			t.Fatal("the model was asked for a stranger")
		}
	})
}

func TestAGroupThatNobodyAllowedHearsHowToAllowIt(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		group := w.telegram.Group(-501, "Strangers")
		w.telegram.Join(group, w.guest)
		w.start()
		w.guest.Send(group, "just talking", faketelegram.SendOptions{})
		w.guest.Send(group, "@parley_bot hello", faketelegram.SendOptions{})
		w.answer(group, "not allowed")
		if len(w.asked()) != 0 || len(w.telegram.Sent(group)) != 1 {
			t.Fatalf("asked %d times, said %q", len(w.asked()), w.texts(group))
		}
	})
}

func TestTopicsAreConversationsOfTheirOwn(t *testing.T) {
	eachStore(t, func(_ *testing.T, w *world) {
		forum := w.telegram.Forum(-700, "Forum")
		one, two := w.telegram.Topic(forum, w.owner), w.telegram.Topic(forum, w.owner)
		w.start()
		w.owner.Send(forum, "@parley_bot first", faketelegram.SendOptions{Thread: one})
		w.answer(forum, "first")
		w.owner.Send(forum, "@parley_bot second", faketelegram.SendOptions{Thread: two})
		sent := w.answer(forum, "second")
		w.mustRead(w.lastAsked(2), "user: [Olga] @parley_bot second")
		if sent.Thread != two {
			w.t.Fatalf("answered in thread %d, want %d", sent.Thread, two)
		}
	})
}

func TestAGroupThatBecomesASupergroupGoesOn(t *testing.T) {
	eachStore(t, func(_ *testing.T, w *world) {
		group := w.allowedGroup()
		const supergroup = -100500
		w.telegram.Migrate(group, supergroup, w.owner)
		w.guest.Send(supergroup, "@parley_bot still there?", faketelegram.SendOptions{})
		w.answer(supergroup, "still there?")
		w.mustRead(w.lastAsked(2), "user: [Olga] [not directed at you] hi all", "assistant: <NO_REPLY>", "user: [Gus] @parley_bot still there?")
	})
}

func TestALongAnswerComesWholeInParts(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		w.start()
		long := strings.Repeat("A sentence of some length that goes on. ", 300) + "THE END"
		w.model.Script(fakeopenai.Text(long))
		w.owner.Send(w.owner.DM(), "tell me all", faketelegram.SendOptions{})
		w.answer(w.owner.DM(), "THE END")
		parts := w.texts(w.owner.DM())
		if len(parts) < 3 || strings.Join(strings.Fields(strings.Join(parts, " ")), " ") != strings.Join(strings.Fields(long), " ") {
			t.Fatalf("%d parts do not make up the answer", len(parts))
		}
	})
}

func TestAModelThatFailsIsToldOnceInPlainWords(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		w.start()
		dm := w.owner.DM()
		w.eventually("the model is probed at the start", func() bool { return len(w.model.Calls()) > 0 })
		w.model.Script(fakeopenai.Unauthorized(w.model.Key()))
		w.owner.Send(dm, "hello", faketelegram.SendOptions{})
		sent := w.answer(dm, "language model")
		if !strings.Contains(sent.Text, "unauthorized") {
			t.Fatalf("an owner should see the cause: %q", sent.Text)
		}
		w.eventually("/readyz tells of the model", func() bool { return !w.part("model").OK })
		if status := w.ready(); status != http.StatusOK {
			t.Errorf("/readyz is %d, though messages are taken in", status)
		}
		w.owner.Send(dm, "/retry", faketelegram.SendOptions{})
		w.answer(dm, "You said: hello")
		w.eventually("/readyz tells that the model answers again", func() bool { return w.part("model").OK })
		if got := w.texts(dm); len(got) != 2 {
			t.Fatalf("the chat saw %q", got)
		}
	})
}

func TestStopBreaksAnAnswerOff(t *testing.T) {
	eachStore(t, func(_ *testing.T, w *world) {
		w.start()
		dm := w.owner.DM()
		w.model.Script(fakeopenai.Faulty("never ending", fakemodel.FaultHang, 1))
		w.owner.Send(dm, "go", faketelegram.SendOptions{})
		w.lastAsked(1)
		w.owner.Send(dm, "/stop", faketelegram.SendOptions{})
		w.answer(dm, "Stopped.")
		w.owner.Send(dm, "next", faketelegram.SendOptions{})
		w.answer(dm, "You said: next")
	})
}

func TestAPhotoGetsAnHonestLineAndItsCaptionCounts(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		w.start()
		dm := w.owner.DM()
		w.owner.Send(dm, "", faketelegram.SendOptions{Photo: true})
		w.answer(dm, "I can't read photos yet")
		if len(w.asked()) != 0 {
			t.Fatal("the model was asked about a photo")
		}
		w.owner.Send(dm, "what is this?", faketelegram.SendOptions{Photo: true})
		sent := w.answer(dm, "what is this?")
		if !strings.Contains(sent.Text, "I can't read photos yet") {
			t.Fatalf("the answer to a caption should say what was not read: %q", sent.Text)
		}
	})
}

func TestMessagesDuringAnAnswerAreAnsweredTogetherAfterIt(t *testing.T) {
	eachStore(t, func(_ *testing.T, w *world) {
		w.start()
		dm := w.owner.DM()
		said := make(chan struct{})
		w.model.Script(fakeopenai.Reply{Pieces: []string{"slow answer"}, Hold: said})
		w.owner.Send(dm, "one", faketelegram.SendOptions{})
		w.lastAsked(1)
		w.owner.Send(dm, "two", faketelegram.SendOptions{})
		w.owner.Send(dm, "three", faketelegram.SendOptions{})
		w.settled()
		close(said)
		w.answer(dm, "You said: three")
		w.mustRead(w.lastAsked(2), "user: one", "assistant: slow answer", "user: two", "user: three")
	})
}
