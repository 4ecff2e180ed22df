package delivery

import (
	"errors"
	"testing"
	"time"

	"parley/adapters"
	"parley/internal/pause"
	"parley/sessions"
)

func TestFate(t *testing.T) {
	t.Parallel()
	fail := func(kind adapters.SendKind) error { return &adapters.SendError{Kind: kind, Reason: "r"} }
	for _, test := range []struct {
		name      string
		err       error
		attempt   int
		state     sessions.DeliveryState
		can       adapters.Capabilities
		before    bool // an earlier attempt may have been sent
		maybeSent bool
		uncounted bool
		after     time.Duration
	}{
		{name: "sent", attempt: 1, state: sessions.DeliverySent},
		{name: "gone chat ends the row", err: fail(adapters.SendGone), attempt: 1, state: sessions.DeliveryFailed},
		{name: "refused message ends the row", err: fail(adapters.SendRefused), attempt: 1, state: sessions.DeliveryFailed},
		{
			name: "429 waits as asked and does not count", err: &adapters.SendError{Kind: adapters.SendRateLimited, RetryAfter: 7 * time.Second},
			attempt: 9, state: sessions.DeliveryPending, uncounted: true, after: 7 * time.Second,
		},
		{
			name: "429 without a time waits all the same", err: fail(adapters.SendRateLimited),
			attempt: 1, state: sessions.DeliveryPending, uncounted: true, after: pause.Min,
		},
		{
			name: "429 cannot ask for ever", err: &adapters.SendError{Kind: adapters.SendRateLimited, RetryAfter: 99 * time.Hour},
			attempt: 1, state: sessions.DeliveryPending, uncounted: true, after: retryAfterMax,
		},
		{name: "unavailable is certain", err: fail(adapters.SendUnavailable), attempt: 3, state: sessions.DeliveryPending, after: 4 * time.Second},
		{name: "denied waits for an operator", err: fail(adapters.SendDenied), attempt: 1, state: sessions.DeliveryPending, after: deniedAfter},
		{name: "unknown may have been sent", err: fail(adapters.SendUnknown), attempt: 1, state: sessions.DeliveryPending, maybeSent: true, after: time.Second},
		{name: "unknown is given up as unknown", err: fail(adapters.SendUnknown), attempt: unknownMax, before: true, state: sessions.DeliveryUnknown, maybeSent: true, after: 8 * time.Second},
		{
			name: "where it can be found out, unknown is tried again", err: fail(adapters.SendUnknown), can: adapters.Capabilities{CanLookUp: true},
			attempt: 20, before: true, state: sessions.DeliveryPending, maybeSent: true, after: pause.Max,
		},
		{
			name: "what cannot be found out for a day is given up as unknown", err: fail(adapters.SendUnknown), can: adapters.Capabilities{CanLookUp: true},
			attempt: unsentMax, before: true, state: sessions.DeliveryUnknown, maybeSent: true, after: pause.Max,
		},
		{
			name: "a key makes it safe for some more attempts", err: fail(adapters.SendUnknown), can: adapters.Capabilities{IdempotentKey: true},
			attempt: unknownMax, before: true, state: sessions.DeliveryPending, maybeSent: true, after: 8 * time.Second,
		},
		{
			name: "a key is not remembered for ever", err: fail(adapters.SendUnknown), can: adapters.Capabilities{IdempotentKey: true},
			attempt: unknownKeyMax, before: true, state: sessions.DeliveryUnknown, maybeSent: true, after: pause.Max,
		},
		{name: "unknown for the first time is tried again, however late", err: fail(adapters.SendUnknown), attempt: unknownMax, state: sessions.DeliveryPending, maybeSent: true, after: 8 * time.Second},
		{name: "an unclassified error is unknown", err: errors.New("boom"), attempt: 1, state: sessions.DeliveryPending, maybeSent: true, after: time.Second},
		{name: "unavailable for a day is a failure", err: fail(adapters.SendUnavailable), attempt: unsentMax, state: sessions.DeliveryFailed, after: pause.Max},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := fate(sessions.Delivery{Attempt: test.attempt, MaybeSent: test.before}, adapters.Receipt{}, test.err, test.can, 0)
			if got.State != test.state || got.MaybeSent != test.maybeSent || got.Uncounted != test.uncounted || got.After != test.after {
				t.Fatalf("got %+v", got)
			}
			if test.err != nil && got.Reason == "" {
				t.Fatal("a failure needs its reason")
			}
		})
	}
}
