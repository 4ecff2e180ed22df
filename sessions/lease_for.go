//go:build !shortlease

package sessions

import "time"

// LeaseFor is how long a claimed session stays with a worker that does not
// renew. Every other time of leases, lanes and locks is a part of it.
const LeaseFor = 12 * time.Second
