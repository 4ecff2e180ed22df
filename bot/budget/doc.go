// Package budget shares the turns of one gateway out: how many a person, a
// chat and the maker of schedules may have at once and a minute.
//
// It promises that owners are bounded by nothing but the gateway's own number
// of turns, part of which is theirs alone; that one guest has at most a tenth
// of it; and that what it keeps is bounded, however many people come. It
// counts in this process: with several replicas each has its own budgets.
//
// It must not know stores or platforms: it answers whether, and if not, when
// to ask again.
package budget
