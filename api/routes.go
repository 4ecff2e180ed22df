package api

import (
	"net/http"
	"slices"
	"strings"
)

// access says who may call a route.
type access int

const (
	forAnyone   access = iota // no secrets there: health and assets
	forVisitors               // the page and the login: they look at the caller themselves
	forCallers                // any bearer token, or a signed-in browser
	forOwner                  // an owner's token, or a signed-in browser
	forScrapers               // whoever opens the page on this machine, the metrics' own token, or an owner
)

// handler is an http.HandlerFunc that may fail; the error becomes a problem.
type handler func(w http.ResponseWriter, r *http.Request) error

type route struct {
	pattern string
	access  access
	handler handler
}

// routeTable is every address the package serves.
func (s *Server) routeTable() []route {
	return slices.Concat(s.publicRoutes(), s.sessionRoutes(), s.logRoutes(), s.ownerRoutes(), s.scheduleRoutes())
}

func (s *Server) publicRoutes() []route {
	return []route{
		{"GET /healthz", forAnyone, s.healthz},
		{"GET /readyz", forAnyone, s.readyz},
		{"GET /metrics", forScrapers, s.metrics},
		{"GET /assets/{name}", forAnyone, s.asset},
		{"GET /favicon.ico", forAnyone, s.favicon},

		{"GET /{$}", forVisitors, s.chatPage},
		{"GET /login", forVisitors, s.loginPage},
		{"POST /login", forVisitors, s.login},
		{"POST /logout", forVisitors, s.logout},
	}
}

// sessionRoutes are the sessions themselves, and what becomes of them.
func (s *Server) sessionRoutes() []route {
	return []route{
		{"GET /v1/openapi.json", forCallers, s.openAPI},
		{"GET /v1/me", forCallers, s.me},
		{"GET /v1/sessions", forCallers, s.findSessions},
		{"POST /v1/sessions", forCallers, s.openSession},
		{"POST /v1/sessions/import", forOwner, s.importSession},
		{"GET /v1/sessions/{id}", forCallers, s.onSession(s.getSession)},
		{"PATCH /v1/sessions/{id}", forCallers, s.patchSession},
		{"DELETE /v1/sessions/{id}", forCallers, s.onSession(s.deleteSession)},
		{"POST /v1/sessions/{id}/touch", forCallers, s.onSession(s.touchSession)},
		{"POST /v1/sessions/{id}/expire", forCallers, s.onSession(s.expireSession)},
		{"POST /v1/sessions/{id}/resume", forCallers, s.resumeSession},
		{"POST /v1/sessions/{id}/fork", forCallers, s.forkSession},
		{"PUT /v1/sessions/{id}/surfaces/{key}", forCallers, s.onSession(s.attachSurface)},
		{"DELETE /v1/sessions/{id}/surfaces/{key}", forCallers, s.onSession(s.detachSurface)},
	}
}

// logRoutes are what is said in a session and written into its log.
func (s *Server) logRoutes() []route {
	return []route{
		{"POST /v1/sessions/{id}/messages", forCallers, s.postMessage},
		{"POST /v1/sessions/{id}/stop", forCallers, s.onSession(s.postStop)},
		{"POST /v1/sessions/{id}/clear", forCallers, s.onSession(s.clearSession)},
		{"POST /v1/sessions/{id}/checkpoint", forCallers, s.onSession(s.checkpointSession)},
		{"POST /v1/sessions/{id}/branch", forCallers, withBody(s, noteBodyMax, s.branchSession)},
		{"POST /v1/sessions/{id}/labels", forCallers, withBody(s, noteBodyMax, s.labelEntry)},
		{"POST /v1/sessions/{id}/name", forCallers, withBody(s, noteBodyMax, s.nameSession)},
		{"POST /v1/sessions/{id}/custom", forCallers, withBody(s, customBodyMax, s.postCustom)},
		{"GET /v1/sessions/{id}/entries", forCallers, s.getEntries},
		{"GET /v1/sessions/{id}/feed", forCallers, s.getFeed},
		{"GET /v1/sessions/{id}/tree", forCallers, s.onSession(s.getTree)},
		{"GET /v1/sessions/{id}/events", forCallers, s.getEvents},
		{"GET /v1/sessions/{id}/export", forCallers, s.exportSession},
	}
}

// ownerRoutes are the gateway's own affairs.
func (s *Server) ownerRoutes() []route {
	return []route{
		{"GET /v1/deadletters", forOwner, s.listDeadLetters},
		{"POST /v1/deadletters/{id}/replay", forOwner, s.replayDeadLetter},
		{"DELETE /v1/deadletters/{id}", forOwner, s.dropDeadLetter},
		{"POST /v1/login-links", forOwner, s.loginLink},
		{"GET /v1/doctor", forOwner, s.doctor},
		{"GET /v1/people", forOwner, s.listPeople},
		{"PUT /v1/people/{who}", forOwner, s.givePerson},
		{"GET /v1/users", forOwner, s.listUsers},
		{"GET /v1/users/{identity}", forOwner, s.getUser},
		{"PUT /v1/users/{identity}/role", forOwner, s.setRole},
	}
}

func (s *Server) routes() {
	for _, route := range s.routeTable() {
		s.mux.Handle(route.pattern, s.guarded(route))
	}
}

// guarded puts the checks before a handler, cheapest and most general first:
// the name the server was called by, where a write comes from, who calls.
func (s *Server) guarded(route route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := s.admit(route.access, r)
		if err == nil {
			if route.access >= forCallers {
				s.connections.keep(r)
			}
			err = route.handler(w, withCaller(r, who))
		}
		if err != nil {
			s.fail(w, r, err)
		}
	})
}

func (s *Server) admit(access access, r *http.Request) (caller, error) {
	if access == forAnyone {
		return caller{}, nil
	}
	if !s.gate.hostAllowed(r.Host) {
		return caller{}, hostProblem()
	}
	if err := s.origin.Check(r); err != nil {
		return caller{}, originProblem()
	}
	switch access {
	case forVisitors:
		return caller{}, nil
	case forScrapers:
		return caller{}, s.gate.admitScraper(r)
	case forCallers:
		return s.gate.authenticate(r)
	}
	return s.gate.authenticateOwner(r)
}

// secureHeaders are sent with every answer. The policy allows no inline
// script or style, no frame, and nothing from another origin.
func secureHeaders(header http.Header) {
	header.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:",
		"connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
	}, "; "))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	header.Set("Cache-Control", "no-store")
}

func trimSlash(base string) string { return strings.TrimRight(base, "/") }
