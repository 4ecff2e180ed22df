package api

import (
	"context"
	"errors"
	"net/http"

	"parley/people"
	"parley/sessions"
)

// listPeople lists whom the configuration or the store knows, and who asks to
// be let in.
func (s *Server) listPeople(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	everybody, err := s.config.People.Everybody(ctx)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, everybody)
}

type roleRequest struct {
	Role people.Role `json:"role"` // empty: what the configuration says
}

// givePerson gives somebody, by an identity or the code of their request, a
// role.
func (s *Server) givePerson(w http.ResponseWriter, r *http.Request) error {
	who := r.PathValue("who")
	if err := sessions.CheckKey("person", who); err != nil {
		return err
	}
	person, err := s.give(w, r, who)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, person)
}

// give gives somebody the role that a request's body names.
func (s *Server) give(w http.ResponseWriter, r *http.Request, who string) (people.Person, error) {
	var request roleRequest
	if err := readJSON(w, r, noteBodyMax, &request); err != nil {
		return people.Person{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	person, err := s.config.People.Give(ctx, "", who, request.Role)
	if err != nil {
		return people.Person{}, personProblem(err)
	}
	return person, nil
}

// personProblem maps what a person's role is refused for.
func personProblem(err error) error {
	if configured, is := errors.AsType[*people.ConfiguredError](err); is {
		return &problemError{Status: http.StatusConflict, Code: "configured", Detail: "Nothing was changed: " + configured.Error() + "."}
	}
	switch {
	case errors.Is(err, people.ErrNoRole):
		return badRequest("Nothing was changed: " + err.Error() + ".")
	case errors.Is(err, sessions.ErrNotFound):
		return &problemError{Status: http.StatusNotFound, Code: "not_found", Detail: "Nobody waits with that code. GET /v1/people lists who does."}
	}
	return err
}
