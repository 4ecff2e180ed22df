package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/sessions"
)

type found struct {
	Sessions []sessions.Record
	Next     string
}

func (f found) ids() (ids []string) {
	for _, record := range f.Sessions {
		ids = append(ids, record.ID)
	}
	return ids
}

func (h *harness) find(query string, options ...option) (got found) {
	h.t.Helper()
	a := h.do("GET", "/v1/sessions"+query, "", options...)
	if a.status != http.StatusOK {
		h.t.Fatalf("%s: %d %s", query, a.status, a.body)
	}
	a.into(h.t, &got)
	if link := a.header.Get("Link"); (link != "") != (got.Next != "") || got.Next != "" && !strings.Contains(link, url.QueryEscape(got.Next)) {
		h.t.Errorf("%s: next %q, yet Link %q", query, got.Next, link)
	}
	return got
}

func TestSessionsAreFound(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	h.open(`{"id":"cli:idle","workspace":"/src"}`)
	h.make("web:x", "web:local:x")
	begin, _ := h.store.Get(t.Context(), "web:x")
	if _, err := h.store.Post(t.Context(), sessions.PostRequest{Surface: "telegram:1:-7", UserID: "telegram:5", Message: sessions.Message{Role: sessions.RoleUser, Text: "x"},
		New: sessions.NewSession{UserID: "telegram:5", Source: sessions.Source{Kind: "channel", Platform: "telegram", Type: sessions.Group}}}); err != nil {
		t.Fatal(err)
	}
	group, _ := h.store.Bound(t.Context(), "telegram:1:-7")
	all := []string{group.ID, "web:x", "cli:idle"}
	for query, want := range map[string][]string{
		"":                                   all,
		"?type=group":                        {group.ID},
		"?state=created":                     {"cli:idle"},
		"?state=created&state=active":        all,
		"?state=expired":                     nil,
		"?workspace=/src":                    {"cli:idle"},
		"?surface=web:local:x":               {"web:x"},
		"?surface=web:local:none":            nil,
		"?user=telegram:5":                   {group.ID},
		"?participant=telegram:5":            {group.ID},
		"?participant=nobody":                nil,
		"?type=direct&user=cli:owner":        {"web:x", "cli:idle"},
		"?active_after=2999-01-01T00:00:00Z": nil,
		"?active_after=" + begin.CreatedAt.Add(-time.Hour).Format(time.RFC3339): all,
	} {
		got := h.find(query).ids()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	for _, query := range []string{"?state=asleep", "?type=crowd", "?limit=x", "?limit=-1", "?limit=1001", "?cursor=x", "?active_after=yesterday", "?owner=me", "?type=group&type=direct", "?user=" + long(600), "?%zz"} {
		if got := h.do("GET", "/v1/sessions"+query, ""); got.status != 400 || got.code(t) != "bad_request" {
			t.Errorf("%.40s: %d %s", query, got.status, got.body)
		}
	}
}

// Following next, and following the Link, every session comes once, however
// many there are.
func TestPagesCoverAllSessions(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	const count = 123
	for i := range count {
		h.make(fmt.Sprintf("api:s%d", i), "")
	}
	if got := h.find(""); len(got.Sessions) != sessions.FindDefault || got.Next == "" {
		t.Errorf("the first page has %d, next %q", len(got.Sessions), got.Next)
	}
	seen := map[string]int{}
	address := "/v1/sessions?limit=20&type=direct&state=active"
	for address != "" {
		got := h.do("GET", address, "")
		var page found
		got.into(t, &page)
		for _, id := range page.ids() {
			seen[id]++
		}
		address, _, _ = strings.Cut(strings.TrimPrefix(got.header.Get("Link"), "<"), ">")
	}
	if len(seen) != count {
		t.Errorf("%d sessions came", len(seen))
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s came %d times", id, times)
		}
	}
}

func TestWhatAChannelsTokenFinds(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo, withTokens)
	bridge := bearer(bridgeToken)
	for _, id := range []string{"telegram:a", "web:a"} {
		h.make(id, "")
		if _, err := h.store.Post(t.Context(), sessions.PostRequest{Session: id, UserID: "telegram:5", Message: sessions.Message{Role: sessions.RoleUser, Text: "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{"", "?type=direct", "?participant=slack:U1", "?user=cli:owner", "?surface=web:local:x", "?participant=telegramx:5"} {
		if got := h.do("GET", "/v1/sessions"+query, "", bridge); got.status != 403 || got.code(t) != "forbidden" {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	if got := h.find("?participant=telegram:5", bridge).ids(); fmt.Sprint(got) != "[telegram:a]" {
		t.Errorf("%v", got)
	}
	if got := h.find("?participant=telegram:5").ids(); len(got) != 2 {
		t.Errorf("the owner finds %v", got)
	}
}

// park leaves a dead letter.
func (h *harness) park(name string) sessions.DeadLetter {
	h.t.Helper()
	ctx := h.t.Context()
	post, err := h.store.Post(ctx, sessions.PostRequest{Surface: "web:local:" + name, Trigger: true, Claim: &sessions.Claimer{Owner: "test", For: time.Minute},
		Message: sessions.Message{Role: sessions.RoleUser, Text: "poison"}})
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.store.Commit(ctx, sessions.CommitRequest{Lease: post.Turn.Lease, Outcome: sessions.Park, Reason: "it broke"}); err != nil {
		h.t.Fatal(err)
	}
	letters, err := h.store.DeadLetters(ctx, 1)
	if err != nil || len(letters) != 1 {
		h.t.Fatal(letters, err)
	}
	return letters[0]
}

func TestDeadLettersAreListedReplayedAndDropped(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	one, two := h.park("a"), h.park("b")
	var list struct {
		DeadLetters []sessions.DeadLetter `json:"dead_letters"`
	}
	if h.do("GET", "/v1/deadletters", "").into(t, &list); len(list.DeadLetters) != 2 || list.DeadLetters[0].ID != two.ID || list.DeadLetters[0].Reason != "it broke" {
		t.Errorf("%+v", list)
	}
	if h.do("GET", "/v1/deadletters?limit=1", "").into(t, &list); len(list.DeadLetters) != 1 {
		t.Errorf("%+v", list)
	}
	if got := h.do("POST", "/v1/deadletters/"+url.PathEscape(one.ID)+"/replay", ""); got.status != http.StatusNoContent || got.body != "" {
		t.Errorf("replay: %d %s", got.status, got.body)
	}
	if got := h.do("DELETE", "/v1/deadletters/"+url.PathEscape(two.ID), ""); got.status != http.StatusNoContent {
		t.Errorf("drop: %d %s", got.status, got.body)
	}
	for call, want := range map[string]int{
		"POST /v1/deadletters/" + url.PathEscape(one.ID) + "/replay": 404, "DELETE /v1/deadletters/" + url.PathEscape(two.ID): 404,
		"DELETE /v1/deadletters/none": 404, "DELETE /v1/deadletters/" + long(600): 400, "GET /v1/deadletters?limit=0": 400, "GET /v1/deadletters?limit=x": 400, "GET /v1/deadletters?all=1": 400,
	} {
		method, path, _ := strings.Cut(call, " ")
		if got := h.do(method, path, ""); got.status != want {
			t.Errorf("%.60s: %d %s", call, got.status, got.body)
		}
	}
	if items, err := h.store.Due(t.Context(), 10); err != nil || len(items) != 1 || items[0].ID != "web:a" {
		t.Errorf("what is due after the replay: %v %v", items, err)
	}
}

func TestPeopleAndTheirRoles(t *testing.T) {
	t.Parallel()
	h := start(t, apitest.Echo)
	var user sessions.User
	for _, role := range []string{"owner", "guest", "blocked", "member"} {
		if h.do("PUT", "/v1/users/telegram:5/role", `{"role":"`+role+`"}`).into(t, &user); user.ID != "telegram:5" || user.Role != role {
			t.Errorf("%+v", user)
		}
	}
	if h.do("GET", "/v1/users/telegram:5", "").into(t, &user); user.Role != "member" {
		t.Errorf("%+v", user)
	}
	h.do("PUT", "/v1/users/slack:U1/role", `{"role":"guest"}`)
	var list struct {
		Users []sessions.User
		Next  string
	}
	if h.do("GET", "/v1/users?limit=1", "").into(t, &list); len(list.Users) != 1 || list.Users[0].ID != "slack:U1" || list.Next != "slack:U1" {
		t.Errorf("%+v", list)
	}
	next := list.Next
	if h.do("GET", "/v1/users?after="+next, "").into(t, &list); len(list.Users) != 1 || list.Users[0].ID != "telegram:5" || list.Next != "" {
		t.Errorf("%+v", list)
	}
	h.do("PUT", "/v1/users/telegram:5/role", `{"role":""}`)
	if h.do("GET", "/v1/users/telegram:5", "").into(t, &user); user.Role != "" {
		t.Errorf("%+v", user)
	}
	for call, want := range map[string]int{
		`PUT /v1/users/telegram:5/role {"role":"king"}`: 400, `PUT /v1/users/telegram:5/role {"name":"x"}`: 400, `PUT /v1/users/Ann/role {"role":"owner"}`: 400,
		`PUT /v1/users/telegram:5/role `: 415, "GET /v1/users/Ann ": 400, "GET /v1/users?limit=0 ": 400, "GET /v1/users?role=owner ": 400,
	} {
		method, rest, _ := strings.Cut(call, " ")
		path, body, _ := strings.Cut(rest, " ")
		if got := h.do(method, path, body); got.status != want {
			t.Errorf("%s: %d %s", call, got.status, got.body)
		}
	}
}
