package sessions_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/logtest"
)

// shelf is a store of records, as much as resolving needs of one. Whatever
// goes wrong is set in the fields.
type shelf struct {
	records  []sessions.Record
	boundErr error
	attached []sessions.AttachRequest
	attach   error
	opened   []sessions.NewSession
	reopened bool
	queries  int
}

func (s *shelf) Bound(_ context.Context, surface string) (sessions.Record, error) {
	for _, r := range s.records {
		if slices.Contains(r.Surfaces, surface) {
			return r, nil
		}
	}
	if s.boundErr != nil {
		return sessions.Record{}, s.boundErr
	}
	return sessions.Record{}, sessions.ErrNotFound
}

func (s *shelf) Open(_ context.Context, n sessions.NewSession) (sessions.Record, bool, error) {
	s.opened = append(s.opened, n)
	return sessions.Record{ID: "new"}, !s.reopened, nil
}

func (s *shelf) Attach(_ context.Context, r sessions.AttachRequest) (sessions.Record, string, error) {
	s.attached = append(s.attached, r)
	return sessions.Record{ID: r.Session}, "", s.attach
}

func (s *shelf) Find(_ context.Context, q sessions.Query) (sessions.Page, error) {
	s.queries++
	if err := q.Check(); err != nil {
		return sessions.Page{}, err
	}
	after, _ := sessions.ParsePosition(q.Cursor)
	slices.SortFunc(s.records, func(a, b sessions.Record) int {
		if a.Position().Before(b.Position()) {
			return -1
		}
		return 1
	})
	var page sessions.Page
	for _, r := range s.records {
		if !q.Matches(r) || q.Cursor != "" && !after.Before(r.Position()) {
			continue
		}
		if len(page.Records) == q.Most() {
			page.Next = page.Records[len(page.Records)-1].Position().Cursor()
			break
		}
		page.Records = append(page.Records, r)
	}
	return page, nil
}

func direct(id string, hour int, change ...func(*sessions.Record)) sessions.Record {
	r := sessions.Record{ID: id, UserID: "telegram:1", State: sessions.StateActive, Source: sessions.Source{Kind: "channel", Type: sessions.Direct}, LastActivityAt: logtest.Day().Add(time.Duration(hour) * time.Hour)}
	for _, c := range change {
		c(&r)
	}
	return r
}

func TestAffinityIsTheNewestDirectSessionOfTheWorkspace(t *testing.T) {
	t.Parallel()
	s := &shelf{records: []sessions.Record{
		direct("old", 1), direct("suspended", 3, func(r *sessions.Record) { r.State = sessions.StateSuspended }),
		direct("created", 4, func(r *sessions.Record) { r.State = sessions.StateCreated }),
		direct("expired", 9, func(r *sessions.Record) { r.State = sessions.StateExpired }),
		direct("group", 9, func(r *sessions.Record) { r.Source.Type = sessions.Group }),
		direct("other", 9, func(r *sessions.Record) { r.UserID = "telegram:2" }),
		direct("team", 9, func(r *sessions.Record) { r.WorkspaceID = "T1" }),
		direct("daily", 9, func(r *sessions.Record) { r.Source.Kind = "schedule" }),
		direct("helper", 9, func(r *sessions.Record) { r.Source.Kind = "sub" }),
		direct("role", 9, func(r *sessions.Record) { r.Source.Kind = "role" }),
	}}
	resolve := sessions.NewestDirect(s)
	for who, want := range map[sessions.Newcomer]string{
		{UserID: "telegram:1"}:                    "created",
		{UserID: "telegram:1", WorkspaceID: "T1"}: "team",
		{UserID: "telegram:1", WorkspaceID: "T2"}: "",
		{UserID: "telegram:3"}:                    "",
		{}:                                        "",
	} {
		got, err := resolve(t.Context(), who)
		if got.ID != want || (want == "") != errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("%+v: %q, %v", who, got.ID, err)
		}
	}
}

// [fault of the original] However many sessions there are, the newest is found.
func TestAffinityNeverMissesTheNewest(t *testing.T) {
	t.Parallel()
	s := &shelf{records: []sessions.Record{direct("mine", 0)}}
	for i := range 200 { // newer ones, elsewhere
		s.records = append(s.records, direct("team"+strconv.Itoa(i), i+1, func(r *sessions.Record) { r.WorkspaceID = "T" }))
	}
	got, err := sessions.NewestDirect(s)(t.Context(), sessions.Newcomer{UserID: "telegram:1"})
	if err != nil || got.ID != "mine" {
		t.Errorf("%q, %v", got.ID, err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	bound := direct("bound", 0, func(r *sessions.Record) { r.Surfaces = []string{"telegram:b:1"} })
	const none = ""
	for name, c := range map[string]struct {
		store    *shelf
		group    bool
		off      bool
		id       string
		how      sessions.Resolution
		attached bool
	}{
		"binding first":                {store: &shelf{records: []sessions.Record{bound, direct("newer", 5)}}, id: "bound", how: sessions.ResolvedBound},
		"affinity":                     {store: &shelf{records: []sessions.Record{direct("mine", 5)}}, id: "mine", how: sessions.ResolvedAffinity, attached: true},
		"affinity off":                 {store: &shelf{records: []sessions.Record{direct("mine", 5)}}, off: true, id: "new", how: sessions.ResolvedNew},
		"a group continues no chat":    {store: &shelf{records: []sessions.Record{direct("mine", 5)}}, group: true, id: "new", how: sessions.ResolvedNew},
		"nothing there":                {store: &shelf{}, id: "new", how: sessions.ResolvedNew},
		"quicker":                      {store: &shelf{reopened: true}, id: "new", how: sessions.ResolvedBound},
		"expired meanwhile":            {store: &shelf{records: []sessions.Record{direct("mine", 5)}, attach: &sessions.StateError{}}, id: "new", how: sessions.ResolvedNew, attached: true},
		"gone meanwhile":               {store: &shelf{records: []sessions.Record{direct("mine", 5)}, attach: sessions.ErrNotFound}, id: "new", how: sessions.ResolvedNew, attached: true},
		"the store does not answer":    {store: &shelf{boundErr: sessions.ErrUnavailable}, id: none},
		"the store stops answering":    {store: &shelf{records: []sessions.Record{direct("mine", 5)}, attach: sessions.ErrUnavailable}, id: none, attached: true},
		"a bound one that has expired": {store: &shelf{records: []sessions.Record{direct("x", 5, func(r *sessions.Record) { r.Surfaces, r.State = []string{"telegram:b:1"}, sessions.StateExpired })}}, id: "new", how: sessions.ResolvedNew},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := sessions.ResolveRequest{New: sessions.NewSession{Surface: "telegram:b:1", UserID: "telegram:1", Source: sessions.Source{Type: sessions.Direct}}, Affinity: sessions.NewestDirect(c.store)}
			if c.group {
				request.New.Source.Type = sessions.Group
			}
			if c.off {
				request.Affinity = nil
			}
			got, how, err := sessions.Resolve(t.Context(), c.store, request)
			if c.id == none {
				if !errors.Is(err, sessions.ErrUnavailable) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || got.ID != c.id || how != c.how || (len(c.store.attached) > 0) != c.attached {
				t.Errorf("%q %s %v, attached %v", got.ID, how, err, c.store.attached)
			}
		})
	}
}
