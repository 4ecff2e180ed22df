// Package view is what people see of a session's log: the feed, which is the
// log as a list of happenings, and the tree, also drawn as text.
//
// It promises that a program's own entries stay hidden, that silence shows
// nothing, and that what a terminal would act upon is dropped from the tree.
//
// It must not know stores, platforms or how text is marked up: what is silent
// it is told by a [Shown].
package view
