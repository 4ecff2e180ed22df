// Package localzone finds the name of the machine's own time zone.
//
// It promises an IANA name, as in Europe/Berlin, or nothing: an offset or a
// name that only this machine knows would not survive a change of the clock, or
// a move to another machine.
//
// It must not know what the zone is for.
package localzone
