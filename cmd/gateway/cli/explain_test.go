package cli_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/cmd/gateway/cli"
)

// The errors are those that this system really gives.
func TestExplainSaysWhatHelps(t *testing.T) {
	t.Parallel()
	var listening net.ListenConfig
	first, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, taken := listening.Listen(t.Context(), "tcp", first.Addr().String())
	_, missing := os.ReadFile(filepath.Join(t.TempDir(), "none"))
	for want, err := range map[string]error{
		"GATEWAY_LISTEN": taken, "its permissions": fmt.Errorf("cannot write: %w", os.ErrPermission), "none": missing,
	} {
		if err == nil || !strings.Contains(cli.Explain(err), want) || strings.Contains(cli.Explain(err), ";") != (want != "none") {
			t.Errorf("%v: want %q", err, want)
		}
	}
}
