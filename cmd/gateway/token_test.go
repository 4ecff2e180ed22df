package main

import (
	"os"
	"path/filepath"
	"testing"

	"parley/cmd/gateway/datafolder"
)

// However the file with the token came to be, others cannot read it.
func TestTheKeptTokenIsItsUsersOnly(t *testing.T) {
	t.Parallel()
	for content, kept := range map[string]bool{"a-token-of-before\n": true, "": false} {
		data := t.TempDir()
		path := filepath.Join(data, datafolder.TokenFileName)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o644); err != nil { //nolint:gosec // what is tested
			t.Fatal(err)
		}
		token, err := datafolder.KeptToken(data)
		if err != nil || token.IsZero() || (token.Reveal() == "a-token-of-before") != kept {
			t.Errorf("%q: the token was kept: %t, %v", content, !kept, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", content, info.Mode(), err)
		}
		if again, err := datafolder.KeptToken(data); err != nil || again.Reveal() != token.Reveal() {
			t.Errorf("%q: another token the next time, %v", content, err)
		}
	}
}
