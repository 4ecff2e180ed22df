//go:build !faults

package fault

// Here does nothing: this build has no faults.
func Here(Point) {}
