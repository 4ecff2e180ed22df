// Package halfopen takes a connection away without telling its client: a
// server that speaks TLS and HTTP/2, behind a proxy that swallows what comes
// over the connections it has, and lets new ones through.
//
// It must not know who is called.
package halfopen
