// Command mutate takes promises away one by one, and runs the test that is to
// notice. Each mutation of mutations.yaml is a small change of the source that
// breaks one promise; if its test still passes, the test cannot fail, and the
// command does.
//
// The source is not touched: the go command reads the changed file in the place
// of the original (its -overlay).
package main
