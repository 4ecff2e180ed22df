package sessions

import (
	"fmt"
	"time"
)

// Check refuses a lease that cannot be one.
func (l Lease) Check() error { return CheckID(l.Session) }

// CheckRenew refuses too many leases, a bad one, or no time.
func CheckRenew(leases []Lease, extend time.Duration) error {
	if len(leases) > EntriesPerCall {
		return &InvalidError{What: "leases", Why: fmt.Sprintf("at most %d go into one call", EntriesPerCall)}
	}
	if extend < time.Millisecond {
		return &InvalidError{What: "time", Why: "it must be at least a millisecond"}
	}
	for _, l := range leases {
		if err := l.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses an unknown outcome, or anything beyond a limit.
func (r CommitRequest) Check() error {
	switch r.Outcome {
	case Done, Unanswered, Again, Park, HandBack:
	default:
		return &InvalidError{What: "outcome", Why: fmt.Sprintf("%.40q is none", r.Outcome)}
	}
	if r.After < 0 {
		return &InvalidError{What: "after", Why: "it must not be negative"}
	}
	if err := r.Lease.Check(); err != nil {
		return err
	}
	if err := CheckEntries(r.Entries); err != nil {
		return err
	}
	if err := checkDeliveries(r.Deliveries, "", len(r.Entries)); err != nil {
		return err
	}
	if err := r.Patch.Check(); err != nil {
		return err
	}
	if err := checkClaimer(r.Next); err != nil {
		return err
	}
	return checkClaimer(r.Send)
}

// Check refuses a bad session, key or claimer.
func (r AgainRequest) Check() error {
	if err := CheckID(r.Session); err != nil {
		return err
	}
	if err := checkOptional("key", r.Key); err != nil {
		return err
	}
	return checkClaimer(r.Claim)
}

// Check refuses an empty request, or one for several surfaces.
func (r EnqueueRequest) Check() error {
	if len(r.Deliveries) == 0 {
		return &InvalidError{What: "deliveries", Why: "there are none"}
	}
	if err := checkDeliveries(r.Deliveries, r.Deliveries[0].Surface, -1); err != nil {
		return err
	}
	if r.KeyFor < 0 {
		return &InvalidError{What: "key time", Why: "it must not be negative"}
	}
	if err := checkOptional("key", r.Key); err != nil {
		return err
	}
	return checkClaimer(r.Send)
}

// Check refuses an unknown state; claimer counts only with Next.
func (s Settlement) Check(claimer Claimer) error {
	switch s.State {
	case DeliverySent, DeliveryUnknown, DeliveryFailed, DeliveryPending:
	default:
		return &InvalidError{What: "delivery state", Why: fmt.Sprintf("%.40q ends no attempt", s.State)}
	}
	if s.After < 0 {
		return &InvalidError{What: "after", Why: "it must not be negative"}
	}
	if err := CheckKey("lane", s.Delivery.Lane.ID); err != nil {
		return err
	}
	if err := CheckKey("delivery id", s.Delivery.ID); err != nil {
		return err
	}
	if !s.Next {
		return nil
	}
	return claimer.Check()
}

// CheckTimer refuses a timer that cannot be set.
func CheckTimer(timer Timer, after time.Duration) error {
	if err := CheckTimerName(timer.Home, timer.Name); err != nil {
		return err
	}
	if err := checkOptional("timer purpose", timer.Purpose); err != nil {
		return err
	}
	if after < 0 {
		return &InvalidError{What: "after", Why: "it must not be negative"}
	}
	if timer.Payload == nil {
		return nil
	}
	return CheckPayload(timer.Payload)
}

// CheckTimerName refuses what cannot name a timer.
func CheckTimerName(home, name string) error {
	if err := CheckKey("timer home", home); err != nil {
		return err
	}
	return CheckKey("timer name", name)
}

// CheckLockData refuses a lock's text beyond [MetadataMax], and a negative time
// to keep it.
func CheckLockData(data string, keep time.Duration) error {
	if len(data) > MetadataMax {
		return &InvalidError{What: "lock data", Why: fmt.Sprintf("it must have at most %d bytes", MetadataMax)}
	}
	if keep < 0 {
		return &InvalidError{What: "keep", Why: "it must not be negative"}
	}
	return nil
}

// Check refuses what callers may not publish.
func (e LiveEvent) Check() error {
	if e.Kind != LiveDraft {
		return &InvalidError{What: "live event", Why: "only drafts are published by callers"}
	}
	if len(e.Text) > PayloadMax {
		return &InvalidError{What: "draft", Why: fmt.Sprintf("it must have at most %d bytes", PayloadMax)}
	}
	return CheckID(e.Session)
}
