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
	SignedInFor  = 30 * 24 * time.Hour
	renewAfter   = 24 * time.Hour // a page visit renews an older cookie
	deviceFor    = 400 * 24 * time.Hour
	deviceCookie = "parley_device"
	deviceLength = 26
	nonceLength  = 16
)

// cookies makes and checks the proof that a browser is signed in: an expiry
// and a nonce under a MAC. Nothing is kept here, so it holds on every replica
// and as long as the token does.
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

func (c cookies) mint() string {
	value := binary.BigEndian.AppendUint64(nil, uint64(c.now().Add(SignedInFor).Unix()))
	nonce := make([]byte, nonceLength)
	_, _ = rand.Read(nonce) // never fails
	value = append(value, nonce...)
	return base64.RawURLEncoding.EncodeToString(append(value, c.mac(value)...))
}

func (c cookies) mac(value []byte) []byte {
	mac := hmac.New(sha256.New, c.key)
	mac.Write(value)
	return mac.Sum(nil)
}

// left is how long a cookie's value is good still; 0: it is not.
func (c cookies) left(value string) time.Duration {
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(raw) != 8+nonceLength+sha256.Size {
		return 0
	}
	signed, mac := raw[:8+nonceLength], raw[8+nonceLength:]
	if !hmac.Equal(mac, c.mac(signed)) {
		return 0
	}
	expiry := time.Unix(int64(binary.BigEndian.Uint64(signed)), 0)
	return max(0, expiry.Sub(c.now()))
}

func (c cookies) leftOf(r *http.Request) time.Duration {
	cookie, err := r.Cookie(sessionCookie(r.Host))
	if err != nil {
		return 0
	}
	return c.left(cookie.Value)
}

func (c cookies) valid(r *http.Request) bool { return c.leftOf(r) > 0 }

// signIn gives the browser its cookie.
func (c cookies) signIn(w http.ResponseWriter, r *http.Request) {
	setCookie(w, r, sessionCookie(r.Host), c.mint(), SignedInFor)
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
