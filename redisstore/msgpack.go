package redisstore

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// packed reads MessagePack as the scripts write it: maps, lists, texts and
// whole numbers, nothing else. After the first value that is none of these, or not
// whole, all are zero and err is errReply.
type packed struct {
	rest string
	err  error
}

// take cuts size bytes off.
func (p *packed) take(size uint64) string {
	if p.err != nil || size > uint64(len(p.rest)) {
		p.err = errReply
		return ""
	}
	part := p.rest[:size]
	p.rest = p.rest[size:]
	return part
}

// unsigned reads a number of 1, 2, 4 or 8 bytes.
func (p *packed) unsigned(size int) uint64 {
	var full [8]byte
	copy(full[8-size:], p.take(uint64(size))) //nolint:gosec // not negative
	return binary.BigEndian.Uint64(full[:])
}

// head reads a value's first byte.
func (p *packed) head() byte {
	if part := p.take(1); part != "" {
		return part[0]
	}
	return 0
}

// length reads how many members a map has.
func (p *packed) length() uint64 {
	switch b := p.head(); {
	case b >= 0x80 && b <= 0x8f:
		return uint64(b & 0x0f)
	case b == 0xde || b == 0xdf:
		return p.unsigned(2 << (b - 0xde))
	}
	p.err = errReply
	return 0
}

// items reads how many items a list has.
func (p *packed) items() uint64 {
	switch b := p.head(); {
	case b >= 0x90 && b <= 0x9f:
		return uint64(b & 0x0f)
	case b == 0xdc || b == 0xdd:
		return p.unsigned(2 << (b - 0xdc))
	}
	p.err = errReply
	return 0
}

// texts reads a list of texts.
func (p *packed) texts() (list []string) {
	for range p.items() {
		text, _ := p.value()
		if p.err != nil {
			return nil
		}
		list = append(list, text)
	}
	return list
}

// pairs reads a map of texts.
func (p *packed) pairs() map[string]string {
	out := map[string]string{}
	for range p.length() {
		name, _ := p.value()
		text, _ := p.value()
		if p.err != nil {
			return nil
		}
		out[name] = text
	}
	return out
}

// value reads a text or a number; text is empty for a number.
func (p *packed) value() (text string, number int64) {
	switch b := p.head(); {
	case b <= 0x7f:
		return "", int64(b)
	case b >= 0xe0:
		return "", int64(int8(b)) //nolint:gosec // that is its meaning
	case b >= 0xa0 && b <= 0xbf:
		return p.take(uint64(b & 0x1f)), 0
	case b >= 0xd9 && b <= 0xdb:
		return p.take(p.unsigned(1 << (b - 0xd9))), 0
	case b >= 0xcc && b <= 0xcf:
		return "", p.positive(p.unsigned(1 << (b - 0xcc)))
	case b >= 0xd0 && b <= 0xd3:
		size := 1 << (b - 0xd0)
		shift := 64 - 8*size
		return "", int64(p.unsigned(size)<<shift) >> shift //nolint:gosec // keeps the sign
	}
	p.err = errReply
	return "", 0
}

func (p *packed) positive(n uint64) int64 {
	if n > math.MaxInt64 {
		p.err = errReply
		return 0
	}
	return int64(n)
}

// packer writes MessagePack that the scripts and packed read. It keeps the
// bytes of a text whatever they are, which JSON does not.
type packer struct{ out []byte }

// size writes the head of a value: small is the form of up to limit, wide that
// of more, with 16 or 32 bits.
func (p *packer) size(n int, small byte, limit int, wide byte) {
	switch {
	case n <= limit:
		p.out = append(p.out, small|byte(n)) //nolint:gosec // at most limit
	case n <= math.MaxUint16:
		p.out = binary.BigEndian.AppendUint16(append(p.out, wide), uint16(n)) //nolint:gosec // checked
	default:
		p.out = binary.BigEndian.AppendUint32(append(p.out, wide+1), uint32(n)) //nolint:gosec // texts are bounded
	}
}

func (p *packer) text(text string) {
	p.size(len(text), 0xa0, 31, 0xda)
	p.out = append(p.out, text...)
}

func (p *packer) mapOf(n int)  { p.size(n, 0x80, 15, 0xde) }
func (p *packer) listOf(n int) { p.size(n, 0x90, 15, 0xdc) }

func (p *packer) texts(list []string) {
	p.listOf(len(list))
	for _, text := range list {
		p.text(text)
	}
}

func (p *packer) pairs(pairs map[string]string) {
	p.mapOf(len(pairs))
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		p.text(name)
		p.text(pairs[name])
	}
}

func (p *packer) number(n int64) {
	p.out = binary.BigEndian.AppendUint64(append(p.out, 0xd3), uint64(n)) //nolint:gosec // keeps the bits
}
