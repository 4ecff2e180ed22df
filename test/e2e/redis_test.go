package e2e

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"parley/test/fakeopenai"
	"parley/test/faketelegram"
	"parley/test/redistest"
)

// newRedisWorld is a world whose Redis the test can take away.
func newRedisWorld(t *testing.T) (*world, *redistest.Server) {
	t.Helper()
	w := newWorld(t, "sqlite")
	server := redistest.Start(t)
	w.env["REDIS_URL"] = server.URL()
	return w, server
}

func TestWhileRedisIsAwayNothingIsAcknowledgedAndThenAllIsAnswered(t *testing.T) {
	t.Parallel()
	w, server := newRedisWorld(t)
	w.start()
	dm := w.owner.DM()
	w.owner.Send(dm, "before", faketelegram.SendOptions{})
	w.answer(dm, "You said: before")
	w.settled()
	w.receipted(1)
	server.Stop()
	posted := w.owner.Send(dm, "meanwhile", faketelegram.SendOptions{})
	w.eventually("/readyz is red", func() bool { return w.ready() == http.StatusServiceUnavailable })
	for _, call := range w.telegram.Calls("getUpdates") {
		if offset := call.Params["offset"]; offset == itoa(posted.UpdateID+1) {
			t.Fatal("a message was acknowledged that nothing has stored")
		}
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	w.answer(dm, "You said: meanwhile")
	w.settled()
	w.eventually("/readyz is green again", func() bool { return w.ready() == http.StatusOK })
	if got := w.texts(dm); len(got) != 2 {
		t.Fatalf("the chat saw %q", got)
	}
}

// Two replicas share a token and a store. The one that polls is killed in the
// middle of an answer: the other takes over polling and the turn.
func TestAnotherReplicaTakesOver(t *testing.T) {
	t.Parallel()
	w, _ := newRedisWorld(t)
	w.start()
	dm := w.owner.DM()
	w.owner.Send(dm, "before", faketelegram.SendOptions{})
	w.answer(dm, "You said: before")
	w.receipted(1)
	first := w.gateway
	w.env["GATEWAY_DATA"] = t.TempDir()
	w.start()
	w.model.Script(fakeopenai.Hang())
	w.owner.Send(dm, "take over", faketelegram.SendOptions{})
	w.lastAsked(2)
	w.settled()
	first.end(syscall.SIGKILL, patience)
	w.answer(dm, "You said: take over")
	w.owner.Send(dm, "and go on", faketelegram.SendOptions{})
	w.answer(dm, "You said: and go on")
	if got := w.texts(dm); len(got) != 3 {
		t.Fatalf("the chat saw %q", got)
	}
}

// A gateway that is asked to stop lets a running answer end.
func TestACleanStopLetsAnAnswerEnd(t *testing.T) {
	eachStore(t, func(_ *testing.T, w *world) {
		w.start()
		dm := w.owner.DM()
		w.model.Script(fakeopenai.Reply{Pieces: []string{"the end ", "comes"}, Delay: time.Second})
		w.owner.Send(dm, "go", faketelegram.SendOptions{})
		w.lastAsked(1)
		w.stop()
		w.answer(dm, "the end comes")
	})
}
