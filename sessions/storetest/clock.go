package storetest

import (
	"sync/atomic"
	"time"
)

// Clock is real time plus an offset that only tests move. The store under test
// takes its time from it: either Now as it is, or its server's own time plus
// Offset. Time also passes by itself: tests use times that are long against
// their own run.
type Clock struct{ offset atomic.Int64 }

// Now is the present time.
func (c *Clock) Now() time.Time { return time.Now().Add(c.Offset()) }

// Offset is how far Now is ahead of real time.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) { c.offset.Add(int64(d)) }
