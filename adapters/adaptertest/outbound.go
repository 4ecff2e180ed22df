package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/adapters"
)

// testSend: a message arrives where it was sent to, with a receipt, and pings
// nobody (the fake sees to that).
func testSend(s *stage) {
	r := s.run(nil)
	for name, place := range s.places() {
		surface := r.say(place, "hello "+name).Surface
		receipt, err := r.send(adapters.Outgoing{Surface: surface, Text: "to **" + name + "** @everyone", DeliveryID: "send-" + name})
		if err != nil || len(receipt.MessageIDs) == 0 || receipt.MessageIDs[0] == "" {
			s.t.Errorf("%s: %+v, %v", name, receipt, err)
		}
		if shown := s.Shown(place); len(shown) != 1 || !strings.Contains(shown[0], name) {
			s.t.Errorf("%s shows %q", name, shown)
		}
	}
}

// longTexts are answers that need cutting, each in its own way.
func longTexts() map[string]string {
	line := "The quick brown fox jumps over the lazy dog, and **again** with `code` and ünïcödé 🦊. "
	var code, table strings.Builder
	for i := range 300 {
		fmt.Fprintf(&code, "\tvalue%d := compute(%d, \"text\") // *not* _markup_\n", i, i)
		fmt.Fprintf(&table, "| cell %d | other <&> %d |\n", i, i)
	}
	return map[string]string{
		"prose":   strings.Repeat(line, 150),
		"lines":   strings.Repeat(line+"\n\n", 120),
		"code":    "See:\n\n```go\n" + code.String() + "```\n\nThat is all.",
		"table":   "| a | b |\n|---|---|\n" + table.String(),
		"word":    strings.Repeat("x", 12_000),
		"emoji":   strings.Repeat("👩‍👩‍👧‍👦", 1500),
		"escapes": strings.Repeat("*_~|`<&>[]()#", 900),
		"list":    strings.Repeat("- item with _stress_\n  - nested > quote\n", 250),
	}
}

// testSplitFits: every part of a split text is taken by the platform.
func testSplitFits(s *stage) {
	r := s.run(nil)
	surface := r.say(s.Direct, "where").Surface
	for name, text := range longTexts() {
		for _, format := range []adapters.Format{adapters.Markdown, adapters.Plain} {
			parts := r.Split(text, format)
			if len(parts) < 2 && len([]rune(text)) > r.Capabilities().TextMax {
				s.t.Errorf("%s: %d characters make %d part", name, len(text), len(parts))
			}
			for i, part := range parts {
				id := fmt.Sprintf("split-%s-%s-%d", name, format, i)
				if _, err := r.send(adapters.Outgoing{Surface: surface, Text: part, Format: format, DeliveryID: id}); err != nil {
					s.t.Errorf("%s, part %d of %d as %s: %v", name, i+1, len(parts), format, err)
				}
			}
		}
	}
}

// testSplitKeeps: a plain text that is split loses nothing but white space,
// every part says something, and one that fits is one part.
func testSplitKeeps(s *stage) {
	adapter := s.adapter()
	for name, text := range longTexts() {
		parts := adapter.Split(text, adapters.Plain)
		if got, want := squeeze(strings.Join(parts, "")), squeeze(text); got != want {
			s.t.Errorf("%s: of %d characters %d are left", name, len(want), len(got))
		}
		for i, part := range adapter.Split(text, adapters.Markdown) {
			if strings.TrimSpace(part) == "" {
				s.t.Errorf("%s: part %d is blank", name, i)
			}
			if strings.Count(part, "```")%2 != 0 {
				s.t.Errorf("%s: part %d leaves a fence open", name, i)
			}
		}
	}
	for _, format := range []adapters.Format{adapters.Markdown, adapters.Plain} {
		if parts := adapter.Split("short", format); len(parts) != 1 || parts[0] != "short" {
			s.t.Errorf("a short text makes %q", parts)
		}
		if parts := adapter.Split("", format); len(parts) != 0 {
			s.t.Errorf("an empty text makes %q", parts)
		}
	}
}

// testTextMax: what is said to be the longest text is one message, which the
// platform takes, and one more character makes two.
func testTextMax(s *stage) {
	r := s.run(nil)
	surface := r.say(s.Direct, "where").Surface
	longest := strings.Repeat("x", r.Capabilities().TextMax)
	if parts := r.Split(longest, adapters.Markdown); len(parts) != 1 {
		s.t.Fatalf("%d characters make %d parts", len(longest), len(parts))
	}
	if _, err := r.send(adapters.Outgoing{Surface: surface, Text: longest, DeliveryID: "longest-1"}); err != nil {
		s.t.Errorf("the longest text is not taken: %v", err)
	}
	if parts := r.Split(longest+"x", adapters.Markdown); len(parts) != 2 {
		s.t.Errorf("one character more makes %d parts", len(parts))
	}
}

// testLookUp: where messages of unknown fate are looked up, one that had
// arrived is not sent again, and its receipt is found.
func testLookUp(s *stage) {
	r := s.run(nil)
	if !r.Capabilities().CanLookUp {
		s.t.Skip("the adapter does not look up what it sent")
	}
	surface := r.say(s.Group, "where").Surface
	message := adapters.Outgoing{Surface: surface, Text: "only once", DeliveryID: "looked-up-1", Attempt: 1}
	s.Fail(Broken, 1)
	if _, err := r.send(message); adapters.AsSendError(err).Kind != adapters.SendUnknown {
		s.t.Fatalf("a broken connection: %v", err)
	}
	message.Attempt, message.MaybeSent = 2, true
	receipt, err := r.send(message)
	if err != nil || len(receipt.MessageIDs) != 1 {
		s.t.Fatalf("the second attempt: %+v, %v", receipt, err)
	}
	if shown := s.Shown(s.Group); len(shown) != 1 {
		s.t.Errorf("shown %d times", len(shown))
	}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// testSendTwice: where the platform knows an idempotency key, a delivery that
// is repeated shows once and has one receipt.
func testSendTwice(s *stage) {
	r := s.run(nil)
	if !r.Capabilities().IdempotentKey {
		s.t.Skip("the platform has no idempotency key")
	}
	surface := r.say(s.Group, "where").Surface
	message := adapters.Outgoing{Surface: surface, Text: "only once", DeliveryID: "twice-1", Attempt: 1}
	s.Fail(Broken, 1)
	if _, err := r.send(message); err == nil {
		s.t.Fatal("a broken connection is a success")
	}
	message.Attempt, message.MaybeSent = 2, true
	first, err := r.send(message)
	if err != nil {
		s.t.Fatal(err)
	}
	again, err := r.send(message)
	if err != nil || fmt.Sprint(again.MessageIDs) != fmt.Sprint(first.MessageIDs) {
		s.t.Errorf("the receipts are %v and %v, %v", first, again, err)
	}
	if shown := s.Shown(s.Group); len(shown) != 1 {
		s.t.Errorf("shown %d times", len(shown))
	}
	message.DeliveryID = "twice-2"
	if _, err := r.send(message); err != nil || len(s.Shown(s.Group)) != 2 {
		s.t.Errorf("another delivery of the same text is not shown: %v", err)
	}
}

// testReplyToNothing: an answer to a message that is gone is sent all the same.
func testReplyToNothing(s *stage) {
	r := s.run(nil)
	event := r.say(s.Group, "where")
	for i, replyTo := range []string{event.MessageID, "1", "not an id of this platform"} {
		_, err := r.send(adapters.Outgoing{Surface: event.Surface, Text: "the answer", ReplyTo: replyTo, DeliveryID: fmt.Sprint("reply-", i)})
		if err != nil || len(s.Shown(s.Group)) != i+1 {
			s.t.Errorf("in reply to %q: %v", replyTo, err)
		}
	}
}

// testSendFaults: each way to fail has its kind.
func testSendFaults(s *stage) {
	r := s.run(nil)
	surface := r.say(s.Group, "where").Surface
	for i, test := range []struct {
		fault Fault
		kind  adapters.SendKind
	}{
		{ServerError, adapters.SendUnknown},
		{Broken, adapters.SendUnknown},
		{Gone, adapters.SendGone},
		{RateLimited, adapters.SendRateLimited},
	} {
		s.Fail(test.fault, 1)
		_, err := r.send(adapters.Outgoing{Surface: surface, Text: "x", DeliveryID: fmt.Sprint("fault-", i), Attempt: 1})
		failed := failure(s, string(test.fault), err, test.kind)
		if test.kind == adapters.SendRateLimited {
			checkLimit(s, failed, false)
		}
	}
	direct := r.say(s.Direct, "where").Surface
	s.Fail(GlobalLimit, 1)
	_, err := r.send(adapters.Outgoing{Surface: direct, Text: "x", DeliveryID: "fault-global", Attempt: 1})
	checkLimit(s, failure(s, string(GlobalLimit), err, adapters.SendRateLimited), s.LimitsAccount)
}

func failure(s *stage, what string, err error, kind adapters.SendKind) *adapters.SendError {
	s.t.Helper()
	if err == nil {
		s.t.Fatalf("%s: no error", what)
	}
	failed := adapters.AsSendError(err)
	if failed.Kind != kind || failed.Reason == "" {
		s.t.Errorf("%s: is %q (%s), want %q", what, failed.Kind, failed.Reason, kind)
	}
	return failed
}

// checkLimit holds a rate limit to what the platform asked for.
func checkLimit(s *stage, failed *adapters.SendError, global bool) {
	s.t.Helper()
	if failed.RetryAfter <= 0 || failed.RetryAfter > 2*RetryAfter {
		s.t.Errorf("asked to wait %s, it is %s", RetryAfter, failed.RetryAfter)
	}
	if global && !failed.Global {
		s.t.Error("a limit for everything counts as one of the chat")
	}
}

// hangFor is how long an answer is waited for that does not come. The request
// has to be under way by then, on a busy machine too.
const hangFor = 2 * time.Second

// frozen is a context whose deadline has passed, and whose timer has not fired:
// the process was frozen until now.
type frozen struct{ context.Context }

func (frozen) Deadline() (time.Time, bool) { return time.Now().Add(-time.Second), true }

// testSendLate: nothing is sent after the deadline, also where only the clock
// knows that it has passed; it is known not to be sent.
func testSendLate(s *stage) {
	r := s.run(nil)
	surface := r.say(s.Group, "where").Surface
	_, err := r.Send(frozen{s.t.Context()}, adapters.Outgoing{Surface: surface, Text: "too late", DeliveryID: "late-1"})
	if err == nil || adapters.AsSendError(err).Kind != adapters.SendUnavailable {
		s.t.Errorf("a late message ends with %v", err)
	}
	if shown := s.Shown(s.Group); slices.Contains(shown, "too late") {
		s.t.Errorf("shown: %q", shown)
	}
}

// testSendTimeout: when no answer comes in time, it is not known what became
// of the message.
func testSendTimeout(s *stage) {
	r := s.run(nil)
	surface := r.say(s.Group, "where").Surface
	s.Fail(Hang, 1)
	ctx, cancel := context.WithTimeout(context.Background(), hangFor)
	defer cancel()
	_, err := r.Send(ctx, adapters.Outgoing{Surface: surface, Text: "x", DeliveryID: "timeout-1", Attempt: 1})
	s.cleanError(err)
	failure(s, "a time-out", err, adapters.SendUnknown)
}

// testSendUnreachable: when nobody can be reached, nothing was sent. Of the
// first attempt that is not certain, if it went out on an open connection.
func testSendUnreachable(s *stage) {
	r := s.run(nil)
	surface := r.say(s.Group, "where").Surface
	s.Down()
	message := adapters.Outgoing{Surface: surface, Text: "x", DeliveryID: "down-1", Attempt: 1}
	_, err := r.send(message)
	if kind := adapters.AsSendError(err).Kind; err == nil || kind != adapters.SendUnavailable && kind != adapters.SendUnknown {
		s.t.Errorf("a platform that is down: %v", err)
	}
	_, err = r.send(message)
	failure(s, "a platform that is down", err, adapters.SendUnavailable)
}
