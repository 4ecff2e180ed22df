package client

import (
	"context"
	"net/http"
	"net/url"

	"parley/people"
)

// People are those that a running gateway knows.
type People struct{ Client *Client }

// Everybody lists them, and who asks to be let in.
func (p People) Everybody(ctx context.Context) (everybody people.Everybody, err error) {
	err = p.Client.call(ctx, http.MethodGet, "/v1/people", "", nil, &everybody)
	return everybody, err
}

// Give gives somebody, by an identity or the code of their request, a role; an
// empty one takes back what was given. sessions.ErrNotFound: nobody waits with
// that code.
func (p People) Give(ctx context.Context, who string, role people.Role) (person people.Person, err error) {
	body := map[string]people.Role{"role": role}
	err = p.Client.call(ctx, http.MethodPut, "/v1/people/"+url.PathEscape(who), "", body, &person)
	return person, err
}
