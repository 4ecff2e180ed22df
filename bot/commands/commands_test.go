package commands

import (
	"testing"

	"parley/routing"
)

// Every command of routing has a handler, under its name.
func TestTheTableIsRoutings(t *testing.T) {
	t.Parallel()
	c := New(Config{})
	for _, spec := range routing.Commands() {
		if row, found := c.rows[spec.Name]; !found || row.run == nil {
			t.Errorf("/%s has no handler", spec.Name)
		}
	}
	if len(c.rows) != routing.CommandCount {
		t.Errorf("%d rows for %d commands", len(c.rows), routing.CommandCount)
	}
}
