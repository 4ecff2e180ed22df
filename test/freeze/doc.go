// Package freeze stops a process as a debugger does and lets it go on, for
// tests of what happens meanwhile: it keeps its connections and answers
// nothing.
//
// It promises nothing where the operating system has no such signal: there a
// process goes on, and the tests that need one frozen do not run.
//
// It must not know what the process is.
package freeze
