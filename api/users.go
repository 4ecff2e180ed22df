package api

import (
	"context"
	"net/http"
	"net/url"

	"parley/sessions"
)

const usersDefault = 100

type usersAnswer struct {
	Users []sessions.User `json:"users"` // by id
	// Next continues: ask again with ?after=. Empty: this was all.
	Next string `json:"next,omitempty"`
}

// listUsers lists who has several identities or a role of the store's.
func (s *Server) listUsers(w http.ResponseWriter, r *http.Request) error {
	values, err := queryOf(r, "after", "limit")
	if err != nil {
		return err
	}
	limit, err := number("limit", values.Get("limit"), usersDefault)
	if err != nil {
		return err
	}
	limit = min(limit, sessions.ListMax+1)
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	users, err := s.config.Store.ListUsers(ctx, values.Get("after"), int(limit))
	if err != nil {
		return err
	}
	answer := usersAnswer{Users: append([]sessions.User{}, users...)}
	if int64(len(users)) == limit {
		answer.Next = users[limit-1].ID
		w.Header().Set("Link", "<"+r.URL.Path+"?"+url.Values{"after": {answer.Next}, "limit": {values.Get("limit")}}.Encode()+`>; rel="next"`)
	}
	return writeJSON(w, http.StatusOK, answer)
}

// getUser is the person behind an identity.
func (s *Server) getUser(w http.ResponseWriter, r *http.Request) error {
	identity := r.PathValue("identity")
	if err := sessions.CheckIdentity(identity); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	user, err := s.config.Store.Who(ctx, identity)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, user)
}

// setRole gives the person behind an identity a role, by the rules of
// [people.Room.Give].
func (s *Server) setRole(w http.ResponseWriter, r *http.Request) error {
	identity := r.PathValue("identity")
	if err := sessions.CheckIdentity(identity); err != nil {
		return err
	}
	person, err := s.give(w, r, identity)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, sessions.User{ID: person.ID, Identities: person.Identities, Role: string(person.Stored)})
}
