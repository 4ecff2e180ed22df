package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers that sign a request.
const (
	headerTimestamp = "X-Slack-Request-Timestamp"
	headerSignature = "X-Slack-Signature"
)

// signatureWindow is how far a request's time may lie from ours, on either
// side.
const signatureWindow = 300 * time.Second

// errUnsigned says no more than that: whoever forges learns nothing.
var errUnsigned = errors.New("the request is not signed by Slack for now")

// seal is what a request's headers claim, read before its body is.
type seal struct {
	timestamp string
	mac       []byte
}

// readSeal reads the signature's headers, strictly: each once, a canonical
// decimal time within the window, v0= and 64 hexadecimal digits.
func readSeal(header http.Header, now time.Time) (seal, error) {
	times, signatures := header.Values(headerTimestamp), header.Values(headerSignature)
	if len(times) != 1 || len(signatures) != 1 {
		return seal{}, errUnsigned
	}
	seconds, err := strconv.ParseInt(times[0], 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != times[0] {
		return seal{}, errUnsigned
	}
	if apart := now.Unix() - seconds; apart > int64(signatureWindow/time.Second) || apart < -int64(signatureWindow/time.Second) {
		return seal{}, errUnsigned
	}
	digits, ok := strings.CutPrefix(signatures[0], "v0=")
	if !ok || len(digits) != 2*sha256.Size {
		return seal{}, errUnsigned
	}
	mac, err := hex.DecodeString(digits)
	if err != nil {
		return seal{}, errUnsigned
	}
	return seal{timestamp: times[0], mac: mac}, nil
}

// verify compares the seal with the one this body would have, in constant
// time.
func (s seal) verify(secret string, body []byte) error {
	if !hmac.Equal(s.mac, sign(secret, s.timestamp, body)) {
		return errUnsigned
	}
	return nil
}

// sign is HMAC-SHA-256 over "v0:", the timestamp, a colon and the raw body.
func sign(secret, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + timestamp + ":"))
	mac.Write(body)
	return mac.Sum(nil)
}
