// Package drafts remembers the answers that are being written in this process,
// so that whoever comes to watch in the middle reads them from the beginning.
//
// It promises that what it gives was published for a turn that has not ended
// here, that it never holds more than a bounded amount, and that a store behind
// it is asked exactly what it was asked for. Beside a shared store it publishes
// the whole text again now and then, for readers at other replicas: they have
// the beginning a few seconds after they came, or with the finished answer.
//
// It must not know platforms, models, HTTP or which store is behind it.
package drafts
