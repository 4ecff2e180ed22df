// Package markdown turns the CommonMark that models write into what chat
// platforms show: one file per platform's dialect, beside one parser.
//
// It promises that rendering is pure and total: every text gives valid output
// with every visible character of the source in it, raw HTML is shown as text
// and a link leads only to http, https, mailto or tel; that [Split] loses no
// character but white space, keeps code fences whole and ends on every input;
// and that the cost of all of it is bounded: see [Reader], which every renderer
// reads through, also the page's and the terminal's.
//
// A dialect is a function from source to rendered text, and one that gives the
// rendered length in the platform's own unit, which [Split] takes.
//
// It must not know adapters, surfaces, or anything that does I/O.
package markdown
