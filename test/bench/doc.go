// Command bench measures the gateway beside the raw limit, in one run on one
// machine, and holds the result against the budgets.
//
// The raw limit is a loop with the same Telegram adapter and the same model
// client that makes one bare durable write per message: no session, no order,
// no history. Both loops run alternately against the same kind of fake servers
// in this process, so that whatever else the machine does hits both.
//
// It promises to end with status 1 when a budget is missed that docs/budgets.md
// does not record with a reason, with 2 when it could not measure, and else
// with 0. It uses loopback only and ends only what it started. Its short form,
// the package's test, judges what does not depend on time: how often the store
// is asked.
//
// It must not know how the parts it measures work, only how they are started.
package main
