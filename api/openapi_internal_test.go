package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

type operation struct {
	OperationID string
	Security    []map[string][]string // nil: that of the document
	Responses   map[string]json.RawMessage
}

func described(t *testing.T) map[string]operation {
	t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openAPIDocument, &document); err != nil {
		t.Fatal(err)
	}
	out := map[string]operation{}
	for path, methods := range document.Paths {
		for method, body := range methods {
			if method == "parameters" {
				continue
			}
			var o operation
			if err := json.Unmarshal(body, &o); err != nil {
				t.Fatal(err)
			}
			out[strings.ToUpper(method)+" "+path] = o
		}
	}
	return out
}

// Every route is described, for whom it is said, and nothing else is.
func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	t.Parallel()
	operations, names := described(t), map[string]bool{}
	for _, route := range (&Server{}).routeTable() {
		if path := strings.Fields(route.pattern)[1]; !strings.HasPrefix(path, "/v1/") && path != "/healthz" && path != "/readyz" {
			continue // a page, or what it is made of
		}
		o, found := operations[route.pattern]
		if !found || names[o.OperationID] {
			t.Errorf("%s is not described, or its name %q is taken", route.pattern, o.OperationID)
		}
		names[o.OperationID] = true
		delete(operations, route.pattern)
		ownerOnly := o.Security != nil && !slices.ContainsFunc(o.Security, func(s map[string][]string) bool { return slices.Contains(s["token"], "channel") })
		if open := len(o.Security) == 1 && len(o.Security[0]) == 0; open && route.access == forAnyone {
			continue
		}
		switch {
		case route.access != forOwner && route.access != forCallers:
			t.Errorf("%s is open", route.pattern)
		case ownerOnly != (route.access == forOwner):
			t.Errorf("%s is described for others than it is for", route.pattern)
		}
		for _, status := range []string{"401", "403", "429", "503"} {
			if _, said := o.Responses[status]; !said {
				t.Errorf("%s does not say %s", route.pattern, status)
			}
		}
	}
	if len(operations) > 0 {
		t.Errorf("described, yet not there: %v", operations)
	}
}
