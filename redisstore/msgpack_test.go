package redisstore

import (
	"strings"
	"testing"
	"time"
)

// What the scripts' encoder writes is read back, at the bounds of each form.
func TestPackedValues(t *testing.T) {
	t.Parallel()
	s := openStore(t, testConfig(t))
	numbers := []int64{0, 127, 128, 255, 256, 65535, 65536, 1<<32 - 1, 1 << 32, 1 << 53, -1, -32, -33, -129, -32769, -1 << 31, -1<<31 - 1, -1 << 53}
	for _, want := range numbers {
		text, number := packedByServer(t, s, "return cmsgpack.pack(tonumber(ARGV[1]))", want)
		if text != "" || number != want {
			t.Errorf("%d: %q, %d", want, text, number)
		}
	}
	for _, size := range []int{0, 1, 31, 32, 255, 256, 65535, 65536} {
		want := strings.Repeat("é", size)[:size]
		text, number := packedByServer(t, s, "return cmsgpack.pack(ARGV[1])", want)
		if text != want || number != 0 {
			t.Errorf("%d bytes: %d bytes, %d", size, len(text), number)
		}
	}
}

func packedByServer(t *testing.T, s *Store, script string, value any) (string, int64) {
	t.Helper()
	val, err := s.command(t.Context(), s.parts[0], "eval", script, 0, value)
	if err != nil {
		t.Fatal(err)
	}
	p := packed{rest: val.(string)}
	text, number := p.value()
	if p.err != nil || p.rest != "" {
		t.Errorf("%v: %v, %d bytes left", value, p.err, len(p.rest))
	}
	return text, number
}

func TestParseHot(t *testing.T) {
	t.Parallel()
	const whole = "\x84\xa2st\xa6active\xa1n\xcd\x01\x00\xa2ac\xcf\x00\x00\x01\x9f\x00\x00\x00\x00\xa3new\xa1x"
	h, err := parseHot(whole)
	if err != nil || h.State != "active" || h.Seq != 256 || !h.LastActivityAt.Equal(time.UnixMilli(0x19f00000000)) {
		t.Fatalf("%+v, %v", h, err)
	}
	for size := range len(whole) {
		if _, err := parseHot(whole[:size]); err == nil {
			t.Errorf("the first %d bytes are read as a record", size)
		}
	}
	for what, text := range map[string]string{
		"JSON": `{"st":"active"}`, "more behind it": whole + "\x00", "no state": "\x81\xa1n\x01",
		"a fraction": "\x82\xa2st\xa6active\xa1n\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", "a list": "\x91\x01",
		"too large": "\x82\xa2st\xa6active\xa1n\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		if _, err := parseHot(text); err == nil {
			t.Errorf("%s is read as a record", what)
		}
	}
}

func FuzzParseHot(f *testing.F) {
	f.Add("\x82\xa2st\xa6active\xa1n\x01")
	f.Add("\xdf\xff\xff\xff\xff")
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := parseHot(text); err == nil && h.State == "" {
			t.Errorf("%q: no state, no error", text)
		}
	})
}
