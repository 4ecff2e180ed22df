package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of a connection.
const (
	idleTimeout = 2 * time.Minute
	headerMax   = 32 << 10
	stopTimeout = 5 * time.Second // for answers under way when the server stops
)

// Serve answers on listener until ctx ends, and closes it. Then it stops in
// this order: no new connections, event streams and waiting requests end
// (their clients come back and continue), answers under way get five seconds,
// what is left is cut. It returns nil after that, or an error if the listener
// fails.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.config.Limits.Head,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerMax,
		ConnState:         s.connections.changed,
		ConnContext:       s.connections.within,
		ErrorLog:          slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		s.Close()
		return fmt.Errorf("http server on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	s.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		s.config.Logger.Warn("http connections cut at stop", "error", err)
		_ = server.Close()
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("http server on %s: %w", listener.Addr(), err)
	}
	return nil
}
