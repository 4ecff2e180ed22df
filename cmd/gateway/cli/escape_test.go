package cli

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestJSONForATerminalSaysTheSameAndSteersNothing(t *testing.T) {
	t.Parallel()
	const text = "a\u009b2Jb\u202egnp.exe\u200d\U000e0041\u2028ä\U0001f600"
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if _, err := io.Copy(Escaped(&out), iotest.OneByteReader(strings.NewReader(string(encoded)+"\n"))); err != nil {
		t.Fatal(err)
	}
	for _, r := range "\u009b\u202e\u200d\U000e0041\u2028" {
		if strings.ContainsRune(out.String(), r) {
			t.Errorf("%U is there as it is", r)
		}
	}
	var back string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back != text {
		t.Errorf("%q became %q, %v", text, back, err)
	}
	if !strings.HasSuffix(out.String(), "ä\U0001f600\"\n") {
		t.Errorf("what can be seen is kept: %q", out.String())
	}
}
