package main

import (
	"net/http"
	"strings"
	"testing"
)

// On this machine a visit alone makes nobody the owner; a link from the command
// line does.
func TestLoginPrintsALinkThatSignsIn(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	code, _, errs := m.does("", "login")
	oneLine(t, code, errs, "gateway run")
	g := m.runs()
	if status := get(t, g.address+"/"); status != http.StatusUnauthorized {
		t.Errorf("a visitor: %d", status)
	}
	code, out, errs := m.does("", "login")
	if link := strings.TrimSpace(out); code != exitOK || !strings.HasPrefix(link, g.address+"/login?code=") || get(t, link) != http.StatusOK || get(t, link) != http.StatusUnauthorized {
		t.Errorf("%d, %q, %q", code, out, errs)
	}
	if _, log := g.stop(); strings.Contains(log, "code=") {
		t.Errorf("the log has the link: %s", log)
	}
}

func TestAnOpenGatewayNeedsNoLink(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	g := m.runs("--config", m.file("http: {open: true}\n"))
	if status := get(t, g.address+"/"); status != http.StatusOK {
		t.Errorf("a visitor: %d", status)
	}
}
