package api_test

import (
	"context"
	"net/http"
	"testing"

	"parley/adapters"
	"parley/api"
	"parley/api/apitest"
	"parley/people"
	"parley/routing"
)

func TestPeopleAreLetInOverHTTP(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	room := &people.Room{Store: store, Configured: people.NewConfigured([]adapters.Identity{"telegram:1"}, nil, nil)}
	h := startOn(t, store, apitest.Echo, func(c *api.Config) { c.People = room })
	asked, err := room.Knock(t.Context(), people.Request{Identity: "telegram:8", Name: "Bob", Surface: "telegram:1:8"})
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		People   []people.Person
		Requests []people.Request
	}
	if h.do("GET", "/v1/people", "").into(t, &list); len(list.Requests) != 1 || list.Requests[0].Code != asked.Code || len(list.People) != 4 {
		t.Fatalf("%+v", list)
	}
	var person people.Person
	if h.do("PUT", "/v1/people/"+asked.Code, `{"role":"member"}`).into(t, &person); person.ID != "telegram:8" || person.Role != routing.Member {
		t.Errorf("%+v", person)
	}
	for path, want := range map[string]int{
		"/v1/people/" + asked.Code:  http.StatusNotFound,
		"/v1/people/telegram:1":     http.StatusConflict,
		"/v1/people/tele%20gram:1":  http.StatusBadRequest,
		"/v1/people/telegram:8":     http.StatusOK,
		"/v1/people/telegram%3A900": http.StatusOK,
	} {
		if got := h.do("PUT", path, `{"role":"blocked"}`).status; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}

func TestARunningGatewayTellsWhatItFinds(t *testing.T) {
	t.Parallel()
	check := api.Check{Part: "store", Finding: adapters.Finding{Level: adapters.LevelOK, What: "answers"}}
	h := start(t, apitest.Echo, func(c *api.Config) {
		c.Doctor = func(context.Context) []api.Check { return []api.Check{check} }
	})
	var answer struct{ Checks []api.Check }
	if h.do("GET", "/v1/doctor", "").into(t, &answer); len(answer.Checks) != 1 || answer.Checks[0] != check {
		t.Errorf("%+v", answer)
	}
}
