package bot

import (
	"math/rand/v2"
	"time"

	"parley/adapters"
	"parley/sessions"
)

// How often and how fast a delivery is tried again.
const (
	// sendTimeout bounds one attempt; it is shorter than a lane is held.
	sendTimeout = sessions.LeaseFor / 3
	// unknownMax is how many attempts a row gets of which several may have
	// been sent; then it is given up as unknown rather than shown many times.
	unknownMax = 4
	// unknownKeyMax is the same where the platform takes messages with one key
	// for one, which it does for a few minutes; the attempts and the pauses
	// between them take less than two.
	unknownKeyMax = 7
	// unsentMax is how many attempts that certainly failed a row gets: with
	// backoffMax between them about a day.
	unsentMax = 1500
	// deniedAfter is the pause after the platform refused our credentials.
	deniedAfter = 5 * time.Minute
	// retryAfterMax bounds what a platform may ask us to wait.
	retryAfterMax = time.Hour

	backoffMin = time.Second
	// backoffMax is how long after a platform's return somebody waits at most.
	backoffMax = time.Minute
)

// unknownLimit is how many attempts of unknown fate a row gets on a platform.
// Where an adapter finds out what became of the last attempt before it makes
// the next, nothing is shown twice, and giving up would lose the message.
func unknownLimit(can adapters.Capabilities) int {
	switch {
	case can.CanLookUp:
		return unsentMax
	case can.IdempotentKey:
		return unknownKeyMax
	default:
		return unknownMax
	}
}

// settle decides what becomes of a delivery after an attempt that ended with
// err (nil: sent). Pure. jitter is in [0, 1); can is what the platform can.
//
// Known-unsent rows are sent again; a row of unknown fate is sent again too,
// marked MaybeSent, so that the adapter can use what its platform has against
// duplicates; a permanent refusal ends the row.
func settle(delivery sessions.Delivery, receipt adapters.Receipt, err error, can adapters.Capabilities, jitter float64) sessions.Settlement {
	out := sessions.Settlement{Delivery: delivery, State: sessions.DeliverySent, MessageIDs: receipt.MessageIDs}
	if err == nil {
		return out
	}
	failure := adapters.AsSendError(err)
	out.MessageIDs, out.Reason = nil, failure.Error()
	switch failure.Kind {
	case adapters.SendGone, adapters.SendRefused:
		out.State = sessions.DeliveryFailed
	case adapters.SendRateLimited:
		out.State, out.Uncounted = sessions.DeliveryPending, true
		out.After = min(max(failure.RetryAfter, backoffMin), retryAfterMax)
	case adapters.SendDenied:
		out.State, out.After = sessions.DeliveryPending, deniedAfter
	case adapters.SendUnavailable, adapters.SendMoved:
		out.State, out.After = sessions.DeliveryPending, backoff(delivery.Attempt, jitter)
	default:
		out.State, out.MaybeSent = sessions.DeliveryPending, true
		out.After = backoff(delivery.Attempt, jitter)
		if delivery.MaybeSent && delivery.Attempt >= unknownLimit(can) {
			out.State = sessions.DeliveryUnknown
		}
	}
	if out.State == sessions.DeliveryPending && !out.Uncounted && delivery.Attempt >= unsentMax {
		out.State = sessions.DeliveryFailed
	}
	return out
}

// backoff doubles from backoffMin to backoffMax, less up to half by jitter.
func backoff(attempt int, jitter float64) time.Duration {
	pause := backoffMax
	if attempt < 10 {
		pause = min(backoffMax, backoffMin<<max(0, attempt-1))
	}
	return pause - time.Duration(jitter*float64(pause)/2)
}

func jitter() float64 { return rand.Float64() }
