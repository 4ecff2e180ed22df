package client

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strconv"

	"parley/scheduler"
	"parley/sessions"
)

// Schedules are those of a running gateway.
type Schedules struct{ Client *Client }

// List reads a part of the schedules, and where the next one begins.
func (s Schedules) List(ctx context.Context, list sessions.ScheduleList) ([]scheduler.View, string, error) {
	values := url.Values{"limit": {strconv.Itoa(list.Limit)}}
	if list.By != "" {
		values.Set("by", list.By)
	}
	if list.Cursor != "" {
		values.Set("cursor", list.Cursor)
	}
	var answer struct {
		Schedules []scheduler.View `json:"schedules"`
		Next      string           `json:"next"`
	}
	err := s.Client.call(ctx, http.MethodGet, "/v1/schedules?"+values.Encode(), "", nil, &answer)
	return answer.Schedules, answer.Next, err
}

func schedulePath(id, rest string) string { return "/v1/schedules/" + url.PathEscape(id) + rest }

// Add makes a schedule.
func (s Schedules) Add(ctx context.Context, d scheduler.Definition) (view scheduler.View, err error) {
	err = s.Client.call(ctx, http.MethodPost, "/v1/schedules", rand.Text(), d, &view)
	return view, err
}

// Get reads one. sessions.ErrNotFound.
func (s Schedules) Get(ctx context.Context, id string) (view scheduler.View, err error) {
	err = s.Client.call(ctx, http.MethodGet, schedulePath(id, ""), "", nil, &view)
	return view, err
}

// Pause keeps one from firing.
func (s Schedules) Pause(ctx context.Context, id string) (view scheduler.View, err error) {
	err = s.Client.call(ctx, http.MethodPost, schedulePath(id, "/pause"), rand.Text(), nil, &view)
	return view, err
}

// Resume lets it fire again.
func (s Schedules) Resume(ctx context.Context, id string) (view scheduler.View, err error) {
	err = s.Client.call(ctx, http.MethodPost, schedulePath(id, "/resume"), rand.Text(), nil, &view)
	return view, err
}

// Run fires it now.
func (s Schedules) Run(ctx context.Context, id, key string) (view scheduler.View, err error) {
	err = s.Client.call(ctx, http.MethodPost, schedulePath(id, "/run"), key, nil, &view)
	return view, err
}

// Remove removes it.
func (s Schedules) Remove(ctx context.Context, id string) error {
	return s.Client.settle(ctx, http.MethodDelete, schedulePath(id, ""))
}

// History reads its newest runs.
func (s Schedules) History(ctx context.Context, id string, limit int) ([]scheduler.Run, error) {
	var answer struct {
		Runs []scheduler.Run `json:"runs"`
	}
	err := s.Client.call(ctx, http.MethodGet, schedulePath(id, "/runs?limit="+strconv.Itoa(limit)), "", nil, &answer)
	return answer.Runs, err
}
