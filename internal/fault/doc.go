// Package fault names the places where a gateway may be killed or stopped by
// a test, and does so.
//
// The code calls Here with a point whenever it passes it. In a build without
// the tag faults, which is every build but those of test/chaos, Here is an
// empty function: nothing of the package is in the program. With the tag, the
// environment variable PARLEY_FAULT says at which pass of which point the
// process kills or stops itself, as in "after claim:3:kill".
//
// Points of parts that do not exist yet (a tool, an approval)
// are absent. It must not know what stands around a point.
package fault
