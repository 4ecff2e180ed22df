package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// gate decides who comes in.
type gate struct {
	keys     keyring
	scraper  [sha256.Size]byte // digest of the metrics' own token
	cookies  cookies
	signOuts *signOuts
	codes    *loginCodes
	failures *limiter
	hosts    map[string]bool // nil: every name
	open     bool            // opening the page on this machine signs in
	logger   *slog.Logger
}

func newGate(config Config) *gate {
	return &gate{
		keys:     newKeyring(config),
		scraper:  sha256.Sum256([]byte(metricsToken(config.Token.Reveal()))),
		cookies:  cookies{key: cookieKey(config.Token.Reveal()), now: config.Now},
		signOuts: newSignOuts(config),
		codes:    newLoginCodes(config.Now),
		failures: newLimiter(config.Now),
		hosts:    allowedHosts(config),
		open:     config.Local && config.Open,
		logger:   config.Logger,
	}
}

func cookieKey(token string) []byte {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("parley browser session 1"))
	return mac.Sum(nil)
}

func allowedHosts(config Config) map[string]bool {
	if !config.Local && len(config.Hosts) == 0 {
		return nil
	}
	hosts := map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}
	for _, host := range config.Hosts {
		hosts[strings.ToLower(host)] = true
	}
	return hosts
}

// hostAllowed keeps out pages that had their own name resolve to this server.
func (g *gate) hostAllowed(host string) bool {
	return g.hosts == nil || g.hosts[hostName(host)]
}

// hostName is the name in a Host header: lower case, without port and brackets.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}

// authenticate says who calls: by bearer token, or by a signed-in browser's
// cookie. A caller who sends a token is judged by it alone. Wrong tokens
// count, and too many lock the address out; a cookie needs no such protection,
// and goes on working meanwhile.
func (g *gate) authenticate(r *http.Request) (caller, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		switch left, _, err := g.signedIn(r); {
		case err != nil:
			return caller{}, err
		case left > 0:
			return ownerCaller(), nil
		}
		return caller{}, unauthorizedProblem("Sign in at / with a browser, or send the header Authorization: Bearer TOKEN.")
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return caller{}, unauthorizedProblem("Only Authorization: Bearer TOKEN is understood.")
	}
	key, known := g.keys.whose(strings.TrimSpace(token))
	if err := g.try(r, known, key.strong); err != nil {
		return caller{}, err
	}
	return key.who, nil
}

// signedIn is how long the browser is signed in still, and by which sign-in;
// 0: it is not.
func (g *gate) signedIn(r *http.Request) (left time.Duration, id string, err error) {
	if left, id = g.cookies.of(r); left == 0 {
		return 0, "", nil
	}
	out, err := g.signOuts.has(r.Context(), id, g.cookies.now().Add(left-SignedInFor))
	if out || err != nil {
		return 0, "", err
	}
	return left, id, nil
}

// authenticateOwner is authenticate for what is no channel's business.
func (g *gate) authenticateOwner(r *http.Request) (caller, error) {
	who, err := g.authenticate(r)
	if err == nil && !who.Owner {
		err = forbiddenProblem("This is for the owner only, and the token is a channel's.")
	}
	return who, err
}

// try judges one attempt with a token, unless the address is locked out. A
// right token that nobody can guess passes a lock: it protects against guesses,
// and who shares an address with somebody else must not be shut out by them.
func (g *gate) try(r *http.Request, right, strong bool) error {
	if right && strong {
		return nil
	}
	remote := remoteKey(r.RemoteAddr)
	if wait := g.failures.locked(remote); wait > 0 {
		return lockedProblem(wait)
	}
	if right {
		return nil
	}
	if g.failures.fail(remote) {
		g.logger.Warn("an address sent too many wrong tokens and is locked out", "remote", remote, "for", LockedOutFor)
	}
	return wrongSecretProblem()
}

func wrongSecretProblem() error {
	return unauthorizedProblem("The token or link is not right, was used, or is too old. The command gateway login prints a new link.")
}

// owns is authenticateOwner without a trace: a wrong token does not count.
func (g *gate) owns(r *http.Request) bool {
	if r.Header.Get("Authorization") == "" {
		left, _, err := g.signedIn(r)
		return left > 0 && err == nil
	}
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	key, _ := g.keys.whose(strings.TrimSpace(token))
	return key.who.Owner && (key.strong || g.failures.locked(remoteKey(r.RemoteAddr)) == 0)
}

// isLocal reports whether a request needs no proof, because the server was
// opened to this machine: the connection and the name it was called by are
// loopback, and nothing says that a proxy stands between. Not every forwarder
// says so, which is why nobody is let in by this unless it is configured.
func (g *gate) isLocal(r *http.Request) bool {
	if !g.open || forwarded(r.Header) || !isLoopback(remoteHost(r.RemoteAddr)) {
		return false
	}
	name := hostName(r.Host)
	return name == "localhost" || isLoopback(name)
}

// mayOwn reports whether opening the page makes the visitor the owner. A
// frame, or a request made by another site's page, does not.
func (g *gate) mayOwn(r *http.Request) bool {
	if !g.isLocal(r) {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

func forwarded(header http.Header) bool {
	for name := range header {
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

func remoteHost(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// remoteKey is what failures are counted by: the address, for IPv6 its /64,
// which is what one person has. Only the connection's own address is believed;
// callers behind one proxy share a count.
func remoteKey(address string) string {
	ip, err := netip.ParseAddr(remoteHost(address))
	if err != nil {
		return address
	}
	if ip = ip.Unmap(); ip.Is4() {
		return ip.String()
	}
	prefix, _ := ip.WithZone("").Prefix(64)
	return prefix.String()
}

// secure reports whether the browser reaches us encrypted. A proxy's word is
// enough here: it can only make the cookie stricter.
func secure(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
