package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"parley/agent/demo"
	"parley/api"
	"parley/bot"
)

// startScheduled is a gateway whose schedules are the bot's own; it does not
// run, so nothing fires.
func startScheduled(t *testing.T) *harness {
	t.Helper()
	store := openStore(t)
	b, err := bot.New(bot.Config{Store: store, Model: demo.New(demo.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	return startOn(t, store, nil, func(c *api.Config) { c.Schedules = b.ScheduleAPI() })
}

func TestSchedulesOverHTTP(t *testing.T) {
	t.Parallel()
	h := startScheduled(t)
	status := func(method, path, body string, want int, part string, options ...option) string {
		t.Helper()
		got := h.do(method, path, body, options...)
		if got.status != want || !strings.Contains(got.body, part) {
			t.Fatalf("%s %s: %d %s, want %d with %q", method, path, got.status, got.body, want, part)
		}
		return got.body
	}
	made := status("POST", "/v1/schedules", `{"id":"standup","cron":"0 9 * * 1-5","timezone":"Europe/Berlin","prompt":"What is on?","deliver_to":["web:local:me"]}`, http.StatusCreated, `"by":"operator"`)
	var view struct{ Next []string }
	if err := json.Unmarshal([]byte(made), &view); err != nil || len(view.Next) != 3 {
		t.Errorf("the next three times are not shown: %s", made)
	}
	status("POST", "/v1/schedules", `{"id":"standup","every":"1h","prompt":"x"}`, http.StatusConflict, "exists already")
	status("GET", "/v1/schedules", "", http.StatusOK, `"standup"`)
	status("GET", "/v1/schedules?by=config&limit=1", "", http.StatusOK, `"schedules":[]`)
	status("GET", "/v1/schedules/standup", "", http.StatusOK, `"status":"active"`)
	status("POST", "/v1/schedules/standup/pause", "", http.StatusOK, `"status":"paused"`)
	status("POST", "/v1/schedules/standup/pause", "", http.StatusConflict, "schedule_state")
	status("POST", "/v1/schedules/standup/resume", "", http.StatusOK, `"status":"active"`)
	for range 2 {
		status("POST", "/v1/schedules/standup/run", "", http.StatusOK, `"waiting":1`, header("Idempotency-Key", "k1"))
	}
	status("POST", "/v1/schedules/standup/run", "", http.StatusConflict, "going on or waiting")
	status("GET", "/v1/schedules/standup/runs?limit=5", "", http.StatusOK, `"runs":[]`)
	status("DELETE", "/v1/schedules/standup", "", http.StatusNoContent, "")
	status("DELETE", "/v1/schedules/standup", "", http.StatusNotFound, "no such schedule")
	status("GET", "/v1/schedules/standup/runs", "", http.StatusNotFound, "no such schedule")
}

func TestSchedulesRefusedOverHTTP(t *testing.T) {
	t.Parallel()
	h := startScheduled(t)
	for body, part := range map[string]string{
		`{"cron":"0 0 30 2 *","prompt":"x"}`:                                  "never comes",
		`{"cron":"* * * * * *","prompt":"x"}`:                                 "6 fields",
		`{"every":"1h","prompt":"x","timezone":"Mars/Phobos"}`:                "not a time zone",
		`{"at":"2020-01-01 09:00","prompt":"x"}`:                              "is past",
		`{"every":"1h","prompt":"x","deliver_to":["telegram:1:2"]}`:           "no connection",
		`{"every":"1h","prompt":"x","deliver_to":["schedule:local:a"]}`:       "no place where people read",
		`{"every":"1h","prompt":"` + strings.Repeat("x", 40<<10) + `"}`:       "at most 32768",
		`{"every":"1h","prompt":"x","by":"telegram:1"}`:                       "by: it is always",
		`{"every":"1h","prompt":"x","whatever":1}`:                            "whatever",
		`{"every":"1h","cron":"@daily","prompt":"x"}`:                         "exactly one",
		`{"id":"gateway.x","every":"1h","prompt":"x"}`:                        "the gateway's own",
		`{"id":"a","every":"1h","prompt":"","overlap":"x","missed":"always"}`: "prompt: it must not be empty; missed:",
	} {
		got := h.do("POST", "/v1/schedules", body)
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, part) {
			t.Errorf("%.80s: %d %s, want 400 with %q", body, got.status, got.body, part)
		}
	}
	if got := h.do("POST", "/v1/schedules", `{"every":"1h","prompt":"`+strings.Repeat("x", 1<<20)+`"}`); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a prompt of 1 MB: %d %s", got.status, got.body)
	}
	if got := h.do("GET", "/v1/schedules?limit=0", ""); got.status != http.StatusBadRequest {
		t.Errorf("limit 0: %d %s", got.status, got.body)
	}
	var ids []string
	for range 2 {
		var view struct{ ID string }
		got := h.do("POST", "/v1/schedules", `{"every":"1h","prompt":"x"}`, header("Idempotency-Key", "once"))
		if err := json.Unmarshal([]byte(got.body), &view); err != nil || view.ID == "" {
			t.Fatalf("%d %s", got.status, got.body)
		}
		ids = append(ids, view.ID)
	}
	if ids[0] != ids[1] {
		t.Errorf("sent twice with one key it made %v", ids)
	}
}
