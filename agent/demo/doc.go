// Package demo is a language model that is none: it answers offline, from a
// short list of keywords, always the same to the same request.
//
// It promises to say that it is a demo and how to connect a real model, to show
// what the gateway can do (Markdown, long answers, slow streams, silence,
// failure), and, when asked, exactly what it was given to read.
//
// It must not pretend to understand, use the network, or keep anything between
// calls.
package demo
