package api

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Limits of login links and the login form.
const (
	LoginLinkFor  = 10 * time.Minute
	loginCodesMax = 16
	formMax       = 8 << 10
)

// loginCodes are the one-time codes of login links. Only digests are kept.
type loginCodes struct {
	now func() time.Time

	mu    sync.Mutex
	until map[[sha256.Size]byte]time.Time
}

func newLoginCodes(now func() time.Time) *loginCodes {
	return &loginCodes{now: now, until: map[[sha256.Size]byte]time.Time{}}
}

// issue makes a code of at least 128 bits. Of too many, the oldest ends.
func (c *loginCodes) issue() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	code := rand.Text()
	for len(c.until) >= loginCodesMax {
		c.dropOldest()
	}
	c.until[sha256.Sum256([]byte(code))] = c.now().Add(LoginLinkFor)
	return code
}

func (c *loginCodes) dropOldest() {
	var oldest [sha256.Size]byte
	var at time.Time
	for digest, until := range c.until {
		if at.IsZero() || until.Before(at) {
			oldest, at = digest, until
		}
	}
	delete(c.until, oldest)
}

// redeem uses a code up, and reports whether it was good.
func (c *loginCodes) redeem(code string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	digest := sha256.Sum256([]byte(code))
	until, known := c.until[digest]
	delete(c.until, digest)
	return known && c.now().Before(until)
}

// loginPage shows the form, or uses up a link's code.
func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) error {
	code := r.URL.Query().Get("code")
	if code == "" || r.Method == http.MethodHead {
		return s.showLogin(w, http.StatusOK, "")
	}
	// Nobody guesses a code. And any site's page can make a browser ask for this
	// address: what it sends counts for nothing.
	if !s.gate.codes.redeem(code) {
		return s.refuseLogin(w, wrongSecretProblem())
	}
	return s.welcome(w, r)
}

// login takes the token that was typed into the form.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r, formMax)
	if err != nil {
		return err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return badRequest("The form is damaged. Open /login and send it again.")
	}
	key, known := s.gate.keys.whose(form.Get("token"))
	if err := s.gate.try(r, known && key.first, key.strong); err != nil {
		return s.refuseLogin(w, err)
	}
	return s.welcome(w, r)
}

// logout ends the browser's sign-in, also for whoever has a copy of its cookie.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	if left, id := s.gate.cookies.of(r); left > 0 {
		if err := s.gate.signOuts.add(r.Context(), id); err != nil {
			return err
		}
	}
	setCookie(w, r, sessionCookie(r.Host), "", -time.Second)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// welcome signs the browser in and sends it to the page. A page does that,
// not a redirect: a strict cookie is not sent along a redirect that began at a
// link in another site, such as a web mailer.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) error {
	s.gate.cookies.signIn(w, r, "")
	s.pages.write(w, http.StatusOK, welcomeDocument, s.pageData())
	return nil
}

func (s *Server) refuseLogin(w http.ResponseWriter, err error) error {
	problem := problemOf(err)
	problem.retryAfter(w.Header())
	return s.showLogin(w, problem.Status, problem.Detail)
}

func (s *Server) showLogin(w http.ResponseWriter, status int, problem string) error {
	data := s.pageData()
	data.Problem = problem
	s.pages.write(w, status, loginDocument, data)
	return nil
}

type loginLinkJSON struct {
	Path    string    `json:"path"` // on this server; open it in a browser
	Expires time.Time `json:"expires"`
}

// loginLink makes a link that signs one browser in, for whoever holds the
// owner's own token.
func (s *Server) loginLink(w http.ResponseWriter, r *http.Request) error {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if key, _ := s.gate.keys.whose(strings.TrimSpace(token)); !key.first {
		return forbiddenProblem("Only the owner's own token makes links that sign a browser in.")
	}
	return writeJSON(w, http.StatusCreated, loginLinkJSON{Path: s.LoginLink(""), Expires: s.config.Now().Add(LoginLinkFor)})
}
