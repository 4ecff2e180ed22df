package api

import (
	"strings"

	"parley/sessions"
)

// draftMax is how much of a growing answer is kept to render it, in bytes;
// beyond it a reader gets the pieces only, and the whole when it is finished.
const draftMax = 64 << 10

// draft is an answer as it grows, put together from the pieces of one turn.
// The zero value is no draft.
type draft struct {
	turn     int64
	base     int // offset of text: above 0 when what comes before was missed
	text     string
	blocks   []string // what was sent rendered, block by block
	rendered int64    // the turn of blocks
}

// deltaJSON is one piece of an answer that is being written. Offset counts the
// bytes of the answer before Text; a reader whose own text is longer cuts it
// there first. With ?render=html, the draft is rendered block by block, and those
// from number From on are now Blocks.
type deltaJSON struct {
	Turn   int64  `json:"turn"`
	Offset int    `json:"offset"`
	Text   string `json:"text"`
	// Missing: so many bytes before this draft's text never came, because the
	// reader did, or because pieces were lost. The answer will be whole when it
	// is finished; until then no more of it is rendered.
	Missing int      `json:"missing,omitempty"`
	From    int      `json:"from"`
	Blocks  []string `json:"blocks,omitempty"`
}

// add puts a piece into its place. ok is false for a piece of an older turn, and
// for one that is there already, as the first ones may be after the text so far.
func (d *draft) add(piece sessions.LiveEvent) (delta deltaJSON, ok bool) {
	if piece.Epoch < d.turn || piece.Offset < 0 {
		return delta, false
	}
	if piece.Epoch > d.turn {
		*d = draft{turn: piece.Epoch, base: piece.Offset, blocks: d.blocks, rendered: d.rendered}
	}
	at := piece.Offset - d.base
	if at >= 0 && len(d.text) > 0 && at < len(d.text) && strings.HasPrefix(d.text[at:], piece.Text) {
		return delta, false
	}
	switch {
	case at < 0 || at > len(d.text) && len(d.text) < draftMax: // what lies between was missed
		d.base, d.text = piece.Offset, piece.Text
	case at < draftMax:
		d.text = d.text[:at] + piece.Text
	}
	return deltaJSON{Turn: piece.Epoch, Offset: piece.Offset, Text: piece.Text, Missing: d.base}, true
}

// delta is an empty piece at the end of the draft.
func (d *draft) delta() deltaJSON {
	return deltaJSON{Turn: d.turn, Offset: d.base + len(d.text), Missing: d.base}
}

// changed renders the draft and gives what differs from what was sent before:
// every block from number from on. A draft without its beginning is not
// rendered, because Markdown reads otherwise in the middle: of the same
// answer, what was sent stays.
func (d *draft) changed(render *renderer) (from int, changed []string) {
	if d.base > 0 {
		if d.rendered != d.turn {
			d.blocks = nil
		}
		return len(d.blocks), nil
	}
	blocks := render.blocks(validText(d.text))
	for from < len(blocks) && from < len(d.blocks) && blocks[from] == d.blocks[from] {
		from++
	}
	d.blocks, d.rendered = blocks, d.turn
	return from, blocks[from:]
}
