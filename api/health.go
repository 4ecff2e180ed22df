package api

import (
	"context"
	"net/http"
	"time"
)

const readinessTimeout = 2 * time.Second

// healthz says that the process answers. It is never anything but 200.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// Readiness is the answer of /readyz.
type Readiness struct {
	Ready bool         `json:"ready"`
	Parts []PartHealth `json:"parts"`
}

// readyz is 200 while every part hears and works, else 503. The lines that say
// what is wrong are for callers who may know.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readinessTimeout)
	defer cancel()
	answer := Readiness{Ready: true, Parts: []PartHealth{}}
	trusted := s.gate.isLocal(r) || s.gate.owns(r)
	for _, part := range s.config.Operations.Readiness(ctx) {
		answer.Ready = answer.Ready && part.OK
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
