package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parley/adapters"
)

const readinessTimeout = 2 * time.Second

// healthz says that the process answers. It is never anything but 200.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, healthAnswer{"ok"})
}

type healthAnswer struct {
	Status string `json:"status"`
}

// Readiness is the answer of /readyz.
type Readiness struct {
	Ready bool         `json:"ready"`
	Parts []PartHealth `json:"parts"`
}

// readyz is 200 while every part that intake needs hears and works, else 503: a
// model that fails keeps no message from being taken in and stored. The lines
// that say what is wrong are for callers who may know.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readinessTimeout)
	defer cancel()
	answer := Readiness{Ready: true, Parts: []PartHealth{}}
	trusted := s.gate.isLocal(r) || s.gate.owns(r)
	for _, part := range s.config.Operations.Readiness(ctx) {
		answer.Ready = answer.Ready && (part.OK || part.Advisory)
		if !trusted {
			part.Problem = ""
		}
		answer.Parts = append(answer.Parts, part)
	}
	status := http.StatusOK
	if !answer.Ready {
		status = http.StatusServiceUnavailable
	}
	return writeJSON(w, status, answer)
}

// Check is one thing that was looked at, and how it is.
type Check struct {
	Part string `json:"part"` // config, data, store, access, model, http or a platform
	adapters.Finding
}

// doctorTimeout bounds an examination: parts of it ask platforms and a model.
const doctorTimeout = 25 * time.Second

type checksAnswer struct {
	Checks []Check `json:"checks"`
}

// doctor is what `gateway doctor` asks of a gateway that runs.
func (s *Server) doctor(w http.ResponseWriter, r *http.Request) error {
	if s.config.Doctor == nil {
		return errors.ErrUnsupported
	}
	ctx, cancel := context.WithTimeout(r.Context(), doctorTimeout)
	defer cancel()
	return writeJSON(w, http.StatusOK, checksAnswer{append([]Check{}, s.config.Doctor(ctx)...)})
}
