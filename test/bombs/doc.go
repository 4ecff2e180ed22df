// Package bombs makes Markdown that is cheap to write and costly to render:
// the same attacks for every renderer of the house, and a way to see what one
// rendering cost.
//
// It must not know a renderer.
package bombs
