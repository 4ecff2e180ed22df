//go:build shortlease

package sessions

import "time"

// LeaseFor is short in builds for tests that wait for leases to run out.
const LeaseFor = 2 * time.Second
