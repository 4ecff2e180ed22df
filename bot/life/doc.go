// Package life is the order in which a gateway stops: first it takes in
// nothing new, then its turns end, then its sends.
//
// It promises that every goroutine begun with Spawn, and every call between
// Enter and Leave, is waited for. It must not know what they do.
package life
