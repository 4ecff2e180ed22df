// Package redistest runs private Redis servers for tests: the real
// redis-server, on free loopback ports, in a directory of its own.
//
// It promises that a started server answers, that it can be stopped, killed,
// frozen and started again on the same port with the same data, and that it
// ends with the test, even if the test process dies.
//
// It must not know any store: whoever uses it says what the keys mean.
package redistest
