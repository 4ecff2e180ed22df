package api_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/sessions"
)

func TestCheckpoint(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	h := start(t, func(ctx context.Context, question string, write func(string)) (string, error) {
		if broken.Load() {
			return "", errors.New("the secret reason")
		}
		return apitest.Echo(ctx, question, write)
	})
	h.say("web:x", "hello")
	var got struct {
		Made    bool
		Session sessions.Record
		Entries []api.EntryView
	}
	ask := func(id string) answer { return h.do("POST", "/v1/sessions/"+id+"/checkpoint", "") }
	a := ask("web:x")
	if a.into(t, &got); a.status != http.StatusOK || !got.Made || len(got.Entries) != 1 || got.Entries[0].Type != sessions.EntryCheckpoint || got.Session.Description != "You said: checkpoint" {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = ask("web:x")
	if a.into(t, &got); a.status != http.StatusOK || got.Made || len(got.Entries) != 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	h.say("web:x", "more")
	broken.Store(true)
	if a = ask("web:x"); a.status != http.StatusBadGateway || a.code(t) != "no_checkpoint" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a = ask("web:nobody"); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
}
