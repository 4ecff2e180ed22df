// Package agent is what answers: language models behind one interface, the
// system prompt they are given, and the model calls of one turn.
//
// It promises that an answer is streamed in order, that a failure says what
// kind it is and whether trying again can help, that a temporary failure is
// tried again only while nobody has seen a word, and that an empty answer is
// never taken for deliberate silence.
//
// It must not know platforms, stores, routing or configuration files. Each
// provider is a folder below it; package demo is the one that needs no network.
package agent
