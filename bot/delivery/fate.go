package delivery

import (
	"time"

	"parley/adapters"
	"parley/internal/pause"
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
	// pause.Max between them about a day.
	unsentMax = 1500
	// deniedAfter is the pause after the platform refused our credentials.
	deniedAfter = 5 * time.Minute
	// retryAfterMax bounds what a platform may ask us to wait.
	retryAfterMax = time.Hour
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

// fate decides what becomes of a delivery after an attempt that ended with
// err (nil: sent). Pure. jitter is in [0, 1); can is what the platform can.
//
// Known-unsent rows are sent again; a row of unknown fate is sent again too,
// marked MaybeSent, so that the adapter can use what its platform has against
// duplicates; a permanent refusal ends the row.
func fate(row sessions.Delivery, receipt adapters.Receipt, err error, can adapters.Capabilities, jitter float64) sessions.Settlement {
	out := sessions.Settlement{Delivery: row, State: sessions.DeliverySent, MessageIDs: receipt.MessageIDs}
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
		out.After = min(max(failure.RetryAfter, pause.Min), retryAfterMax)
	case adapters.SendDenied:
		out.State, out.After = sessions.DeliveryPending, deniedAfter
	case adapters.SendUnavailable, adapters.SendMoved:
		out.State, out.After = sessions.DeliveryPending, pause.Backoff(row.Attempt, jitter)
	default:
		out.State, out.MaybeSent = sessions.DeliveryPending, true
		out.After = pause.Backoff(row.Attempt, jitter)
		if row.MaybeSent && row.Attempt >= unknownLimit(can) {
			out.State = sessions.DeliveryUnknown
		}
	}
	if out.State == sessions.DeliveryPending && !out.Uncounted && row.Attempt >= unsentMax {
		out.State = sessions.DeliveryFailed
	}
	return out
}
