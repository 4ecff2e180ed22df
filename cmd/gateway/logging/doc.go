// Package logging makes the program's logger: one readable, aligned line per
// record on a terminal, JSON everywhere else.
//
// It promises that no control character of a logged value reaches the output,
// that what looks like a credential is masked whatever it was logged as (a
// second net; code masks its own secrets), and that an attribute called
// [TextKey] is dropped unless the text of messages was asked for.
//
// It must not decide what is worth logging, and keeps no logger of its own.
package logging
