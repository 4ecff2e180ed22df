// Package schedulescli is `gateway schedules`: what is done on time, listed,
// made, paused, run and removed.
//
// It promises to ask the gateway that runs on this machine, and to open the
// store where none does, by the same rules.
//
// It must not know when a schedule fires: package scheduler does.
package schedulescli
