package api_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"parley/api/apitest"
)

var importedModule = regexp.MustCompile(`from "\./([\w.]+\?v=\w+)"|import "\./([\w.]+\?v=\w+)"`)

// Each module of the page is there, under one address, which changes with its
// content.
func TestThePagesModulesAreServed(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	page := h.do("GET", "/", "").body
	version := regexp.MustCompile(`\?v=\w+`).FindString(page)
	first := "chat.js" + version
	seen := map[string]bool{first: true}
	for next := []string{first}; len(next) > 0; next = next[1:] {
		got := h.do("GET", "/assets/"+next[0], "")
		if got.status != http.StatusOK || !strings.Contains(got.header.Get("Cache-Control"), "immutable") || strings.Contains(got.body, "{{") ||
			got.header.Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Fatalf("%s: %d %v", next[0], got.status, got.header)
		}
		for _, found := range importedModule.FindAllStringSubmatch(got.body, -1) {
			name := found[1] + found[2]
			if !strings.HasSuffix(name, version) {
				t.Errorf("%s names %s", next[0], name)
			}
			if !seen[name] {
				seen[name] = true
				next = append(next, name)
			}
		}
	}
	if len(seen) < 5 {
		t.Errorf("only %d modules", len(seen))
	}
}
