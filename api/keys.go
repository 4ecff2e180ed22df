package api

// digest is a caller's Idempotency-Key for one purpose that is about no
// session. Empty for no key.
func (c caller) digest(purpose, key string) string {
	if key == "" {
		return ""
	}
	return "api:" + purpose + ":" + c.Digest(purpose, "", key)
}

// said is the key of a message for a session, as the caller named that.
func (c caller) said(session, key string) string {
	return c.Digest("say", session, key)
}
