// Package markdown shows CommonMark on a terminal: headings, lists, quotes,
// code, tables and links as styled lines, wrapped to a width.
//
// It promises that nothing of the source steers the terminal: the only escape
// sequences in its output are the few styles it writes itself, and none at all
// without colour; control characters and what turns the writing direction are
// replaced, also where the source hides them in character references. Widths
// are counted in terminal cells, so wide characters and emoji wrap rightly.
//
// It is pure, and must not know where the text comes from or goes.
package markdown
