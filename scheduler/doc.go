// Package scheduler is what happens on time: schedules (cron, every, at), when
// they are due, what becomes of firings that were missed or overlap, and the
// record of each run.
//
// It promises that a firing is posted exactly once, on any number of replicas
// that die at any moment: every step is taken from what the store holds, has a
// key of its own, and may be repeated by anybody. Which firing is due is
// decided by pure functions of a definition, a state and the store's time.
//
// It must not know platforms, models or databases: posting, stopping and
// telling people are functions that it is given, and surfaces are opaque keys.
package scheduler
