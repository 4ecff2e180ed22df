package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"parley/conversations"
	"parley/internal/secret"
	"parley/sessions"
)

func entry(seq, parent int64, role sessions.Role, calls ...sessions.ToolCall) sessions.Entry {
	payload, _ := json.Marshal(sessions.Message{Role: role, Text: "x", ToolCalls: calls})
	return sessions.Entry{Seq: seq, Parent: parent, Type: sessions.EntryMessage, Payload: payload}
}

func TestReplyTo(t *testing.T) {
	t.Parallel()
	call := sessions.ToolCall{ID: "1", Name: "clock"}
	failure := func(seq int64) sessions.Entry { return sessions.Entry{Seq: seq, Type: sessions.EntryError} }
	waiting := entry(5, 0, sessions.RoleUser)
	broken := entry(6, 5, sessions.RoleAssistant)
	broken.Payload = json.RawMessage(`{"role":"assistant","text":"ha","partial":true}`)
	stopped := broken
	stopped.Payload = json.RawMessage(`{"role":"assistant","text":"ha","partial":true,"stopped":true}`)
	waiting.Waiting = true
	cases := map[string]struct {
		entries []sessions.Entry
		want    []int64
		done    bool
	}{
		"nothing":                  {nil, nil, false},
		"no answer yet":            {[]sessions.Entry{entry(5, 4, sessions.RoleUser)}, nil, false},
		"an answer":                {[]sessions.Entry{entry(5, 4, sessions.RoleUser), entry(6, 5, sessions.RoleAssistant)}, []int64{6}, true},
		"an answer to another":     {[]sessions.Entry{waiting, entry(6, 4, sessions.RoleAssistant)}, nil, false},
		"then its own":             {[]sessions.Entry{entry(5, 6, sessions.RoleUser), entry(6, 4, sessions.RoleAssistant), entry(7, 5, sessions.RoleAssistant)}, []int64{7}, true},
		"collected with a later":   {[]sessions.Entry{entry(5, 4, sessions.RoleUser), entry(6, 5, sessions.RoleUser), entry(7, 6, sessions.RoleAssistant)}, []int64{7}, true},
		"tools first":              {[]sessions.Entry{entry(5, 4, sessions.RoleUser), entry(6, 5, sessions.RoleAssistant, call), entry(7, 6, sessions.RoleTool)}, []int64{6, 7}, false},
		"tools, then the answer":   {[]sessions.Entry{entry(5, 4, sessions.RoleUser), entry(6, 5, sessions.RoleAssistant, call), entry(7, 6, sessions.RoleTool), entry(8, 7, sessions.RoleAssistant)}, []int64{6, 7, 8}, true},
		"an error":                 {[]sessions.Entry{entry(5, 4, sessions.RoleUser), failure(6)}, []int64{6}, true},
		"one that is stopped":      {[]sessions.Entry{entry(5, 4, sessions.RoleUser), stopped}, []int64{6}, true},
		"one that broke off":       {[]sessions.Entry{entry(5, 4, sessions.RoleUser), broken, failure(7)}, []int64{6, 7}, true},
		"broken off, not yet told": {[]sessions.Entry{entry(5, 4, sessions.RoleUser), broken}, []int64{6}, false},
		"an error of another turn": {[]sessions.Entry{waiting, failure(6)}, nil, false},
	}
	for name, c := range cases {
		reply, done := replyTo(c.entries)
		var seqs []int64
		for _, e := range reply {
			seqs = append(seqs, e.Seq)
		}
		if !slices.Equal(seqs, c.want) || done != c.done {
			t.Errorf("%s: %v %v", name, seqs, done)
		}
	}
}

func TestTheLimiterForgetsAndStaysSmall(t *testing.T) {
	t.Parallel()
	now := time.Now()
	l := newLimiter(func() time.Time { return now })
	for range FailuresMax - 1 {
		l.fail("a")
	}
	now = now.Add(FailuresIn)
	if l.fail("a"); l.locked("a") > 0 {
		t.Error("failures of another minute count")
	}
	for range FailuresMax - 1 {
		l.fail("a")
	}
	if l.locked("a") != LockedOutFor {
		t.Error("not locked out")
	}
	for i := range limiterMaxLen + 100 {
		l.fail(time.Duration(i).String())
		now = now.Add(time.Microsecond)
	}
	if len(l.remotes) > limiterMaxLen {
		t.Errorf("%d addresses remembered", len(l.remotes))
	}
}

func TestRemoteKey(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.1:5": "192.0.2.1", "[2001:db8:1:2:3::4]:5": "2001:db8:1:2::/64", "[::ffff:192.0.2.1]:5": "192.0.2.1", "[fe80::1%eth0]:5": "fe80::/64", "@": "@",
	} {
		if got := remoteKey(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{}); err == nil {
		t.Error("an empty configuration is taken")
	}
	if _, err := New(Config{Token: secret.New("x")}); err == nil {
		t.Error("a configuration without a store is taken")
	}
}

func FuzzQueriesAndHeaders(f *testing.F) {
	f.Add("after=1&limit=2&wait=3s", "7", "key")
	f.Add("before=0&render=html", "-1", "\x00")
	f.Fuzz(func(t *testing.T, query, lastEvent, key string) {
		r := &http.Request{Header: http.Header{}}
		r.URL = mustURL(query)
		r.Header.Set("Last-Event-ID", lastEvent)
		r.Header.Set("Idempotency-Key", key)
		if after, err := resumeAt(r); err == nil && after < 0 {
			t.Errorf("resumes at %d", after)
		}
		if wait, err := waitOf(r); err == nil && (wait < 0 || wait > WaitMax) {
			t.Errorf("waits %s", wait)
		}
		if key, err := idempotencyKey(r); err == nil && len(key) > conversations.KeyMax {
			t.Errorf("a key of %d bytes", len(key))
		}
		if p, err := pageOf(r); err == nil {
			for _, last := range []int64{0, 1, 5000} {
				if from, to := p.bounds(1, last); from < 1 || to > last || to-from+1 > entriesMax {
					t.Errorf("%+v of %d: %d to %d", p, last, from, to)
				}
			}
		}
	})
}

func FuzzMessageBody(f *testing.F) {
	f.Add([]byte(`{"text":"x","sender":{"id":"a:b","name":"n"},"append":true}`))
	f.Add([]byte("{\"text\":\"\\u0000\xff\"}"))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var request messageRequest
		if decodeStrict(body, &request) != nil || checkText(request.Text) != nil {
			return
		}
		sender, err := senderOf(request.Sender)
		if err == nil && (len(request.Text) > TextMax || len(sender.ID) > senderMax || len(sender.Name) > senderMax) {
			t.Errorf("%+v", request)
		}
	})
}

func FuzzSessionIDs(f *testing.F) {
	for _, id := range []string{"web:x", "cli:a~b", "api:%25", "web:", ":", "telegram:2026-01-01-x"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		surface, named := localSurface(id)
		if !named {
			return
		}
		bare := sessions.BareID(surface.Key())
		again, ok := localSurface(bare)
		if !ok || again != surface || !firstSession(bare, surface) {
			t.Errorf("%q speaks of %s, whose first session %q speaks of %s", id, surface, bare, again)
		}
		if later, _ := localSurface(bare + "~x"); later != surface {
			t.Errorf("a later session of %s speaks of %s", surface, later)
		}
	})
}

func mustURL(query string) *url.URL { return &url.URL{Path: "/", RawQuery: query} }
