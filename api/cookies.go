package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net"
	"net/http"
	"strings"
	"time"
)

// Life of the browser's cookies.
const (
	SignedInFor  = 7 * 24 * time.Hour
	renewAfter   = 24 * time.Hour // a page visit renews an older cookie
	deviceFor    = 400 * 24 * time.Hour
	deviceCookie = "parley_device"
	deviceLength = 26
	nonceLength  = 16
)

// cookies makes and checks the proof that a browser is signed in: an expiry
// and the sign-in's id under a MAC. Nothing is kept here, so it holds on every
// replica and as long as the token does; what ends it sooner is signOuts.
type cookies struct {
	key []byte
	now func() time.Time
}

// sessionCookie names the cookie by the port, because browsers do not keep
// the cookies of two ports of one host apart.
func sessionCookie(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil {
		return "parley_session_" + port
	}
	return "parley_session"
}

// mint makes a cookie's value for a sign-in; empty: a new one.
func (c cookies) mint(id string) string {
	if id == "" {
		nonce := make([]byte, nonceLength)
		_, _ = rand.Read(nonce) // never fails
		id = string(nonce)
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(c.now().Add(SignedInFor).Unix()))
	value = append(value, id...)
	return base64.RawURLEncoding.EncodeToString(append(value, c.mac(value)...))
}

func (c cookies) mac(value []byte) []byte {
	mac := hmac.New(sha256.New, c.key)
	mac.Write(value)
	return mac.Sum(nil)
}

// left is how long a cookie's value is good still, and its sign-in's id; 0: it
// is not.
func (c cookies) left(value string) (left time.Duration, id string) {
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(raw) != 8+nonceLength+sha256.Size {
		return 0, ""
	}
	signed, mac := raw[:8+nonceLength], raw[8+nonceLength:]
	if !hmac.Equal(mac, c.mac(signed)) {
		return 0, ""
	}
	expiry := time.Unix(int64(binary.BigEndian.Uint64(signed)), 0)
	return max(0, expiry.Sub(c.now())), string(signed[8:])
}

func (c cookies) of(r *http.Request) (left time.Duration, id string) {
	cookie, err := r.Cookie(sessionCookie(r.Host))
	if err != nil {
		return 0, ""
	}
	return c.left(cookie.Value)
}

// signIn gives the browser its cookie, for a sign-in that there is, or a new
// one without id.
func (c cookies) signIn(w http.ResponseWriter, r *http.Request, id string) {
	setCookie(w, r, sessionCookie(r.Host), c.mint(id), SignedInFor)
}

func setCookie(w http.ResponseWriter, r *http.Request, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: secure(r), SameSite: http.SameSiteStrictMode,
	})
}

// device is the browser's own name, which its conversation is kept under;
// empty when it has none yet.
func device(r *http.Request) string {
	cookie, err := r.Cookie(deviceCookie)
	if err != nil || !isDevice(cookie.Value) {
		return ""
	}
	return cookie.Value
}

func isDevice(name string) bool {
	return len(name) == deviceLength && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

func newDevice() string { return strings.ToLower(rand.Text())[:deviceLength] }
