package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// metrics answers with the gateway's numbers, which name nobody.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	if s.config.Metrics == nil {
		return &problemError{Status: http.StatusNotFound, Code: "not_found", Detail: "This gateway keeps no metrics."}
	}
	s.config.Metrics.ServeHTTP(w, r)
	return nil
}

// metricsToken is the bearer token that opens /metrics and nothing else: the
// hexadecimal HMAC-SHA256 of "parley metrics 1" under the owner's token. So
// whoever collects numbers need not hold the owner's token, and nothing has to
// be configured. It changes with the owner's token.
func metricsToken(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("parley metrics 1"))
	return hex.EncodeToString(mac.Sum(nil))
}

// admitScraper lets in who may open the chat page on this machine without
// signing in, who has the metrics' token, and owners.
func (g *gate) admitScraper(r *http.Request) error {
	if g.isLocal(r) || g.isScraper(r) {
		return nil
	}
	_, err := g.authenticateOwner(r)
	return err
}

func (g *gate) isScraper(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	digest := sha256.Sum256([]byte(strings.TrimSpace(token)))
	right := subtle.ConstantTimeCompare(digest[:], g.scraper[:]) == 1
	return right && strings.EqualFold(scheme, "bearer") && g.failures.locked(remoteKey(r.RemoteAddr)) == 0
}
