// Package transport makes the HTTP transports of all clients that speak to
// other people's servers: platforms and models.
//
// It promises that a connection which is half open, because a firewall forgot
// it or a cable was pulled, is given up within [PingAfter] and [PingFor]
// together, also when HTTP/2 would go on using it; and that proxies are obeyed.
//
// It must not know who is called.
package transport
