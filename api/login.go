package api

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
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
	// A locked-out address must not use codes up by guessing.
	if wait := s.gate.retryIn(r); wait > 0 {
		return s.refuseLogin(w, lockedProblem(wait))
	}
	if err := s.gate.try(r, s.gate.codes.redeem(code)); err != nil {
		return s.refuseLogin(w, err)
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
	if err := s.gate.try(r, s.gate.keys.first(form.Get("token"))); err != nil {
		return s.refuseLogin(w, err)
	}
	return s.welcome(w, r)
}

// logout makes this browser forget that it is signed in.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	setCookie(w, r, sessionCookie(r.Host), "", -time.Second)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

// welcome signs the browser in and sends it to the page. A page does that,
// not a redirect: a strict cookie is not sent along a redirect that began at a
// link in another site, such as a web mailer.
func (s *Server) welcome(w http.ResponseWriter, r *http.Request) error {
	s.gate.cookies.signIn(w, r)
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
