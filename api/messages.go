package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"parley/adapters"
	"parley/conversations"
	"parley/sessions"
)

// Limits of a message's envelope.
const (
	messageBodyMax = 6*TextMax + 4096 // JSON may write one byte as six
	senderMax      = 256              // bytes of a sender's id or name
	WaitMax        = 5 * time.Minute  // longest ?wait=
)

type messageRequest struct {
	Text   string      `json:"text"`
	Sender *senderJSON `json:"sender"`
	Append bool        `json:"append"`
	// Surface is where it is said: one of the gateway's own places. Without
	// it the session's id tells.
	Surface string `json:"surface"`
	// Workspace is what a conversation that begins with it belongs to, such as
	// a terminal's working directory.
	Workspace string `json:"workspace"`
}

// senderJSON says on whose behalf the owner's program speaks. ID is a platform
// identity such as telegram:12345; without it the owner speaks.
type senderJSON struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type messageAnswer struct {
	Session   string      `json:"session"`
	MovedTo   string      `json:"moved_to,omitempty"` // see Said
	Seq       int64       `json:"seq"`
	Reason    string      `json:"reason"`
	Turn      bool        `json:"turn"`
	Duplicate bool        `json:"duplicate,omitempty"`
	Reply     string      `json:"reply,omitempty"`
	ReplyHTML string      `json:"reply_html,omitempty"`
	Entries   []EntryView `json:"entries,omitempty"` // with ?wait: the reply
}

// postMessage stores a message and answers 202, or with ?wait the reply and 200.
func (s *Server) postMessage(w http.ResponseWriter, r *http.Request) error {
	wait, err := waitOf(r)
	if err != nil {
		return err
	}
	say, err := s.readSay(w, r)
	if err != nil {
		return err
	}
	said, err := s.config.Operations.Say(r.Context(), say)
	if err != nil {
		return err
	}
	if err := s.sameMessage(r.Context(), say, said); err != nil {
		return err
	}
	answer := s.answerTo(said, wantsHTML(r))
	if !said.Turn || wait == 0 {
		return writeJSON(w, acceptedUnless(!said.Turn && wait > 0), answer)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + writeTimeout))
	reply, done, err := s.await(r.Context(), said, wait)
	if err != nil {
		// The message is stored all the same: a 5xx would say otherwise.
		s.config.Logger.Warn("waiting for a reply failed", "session", said.Session, "error", err)
	}
	answer.Entries = s.views(reply, wantsHTML(r))
	return writeJSON(w, acceptedUnless(done), answer)
}

// sameMessage refuses a key that was used for another message. Of a command,
// such as /new and a text, Operations have looked.
func (s *Server) sameMessage(ctx context.Context, say Say, said Said) error {
	if !said.Duplicate || said.Seq == 0 || said.MovedTo != "" {
		return nil
	}
	entries, err := s.config.Store.Range(ctx, said.Session, said.Seq, said.Seq)
	if err != nil || len(entries) == 0 { // it is gone: nothing tells any more
		return nil //nolint:nilerr // the message is stored, whatever cannot be read now
	}
	message, err := entries[0].Message()
	if err != nil || message.Text == say.Text {
		return nil //nolint:nilerr // as above
	}
	return conversations.ErrKeyReused()
}

func acceptedUnless(done bool) int {
	if done {
		return http.StatusOK
	}
	return http.StatusAccepted
}

func (s *Server) answerTo(said Said, html bool) messageAnswer {
	answer := messageAnswer{Session: said.Session, MovedTo: said.MovedTo, Seq: said.Seq, Reason: said.Reason,
		Turn: said.Turn, Duplicate: said.Duplicate, Reply: said.Reply}
	if html && said.Reply != "" {
		answer.ReplyHTML = s.render.whole(said.Reply)
	}
	return answer
}

func (s *Server) readSay(w http.ResponseWriter, r *http.Request) (Say, error) {
	key, err := idempotencyKey(r)
	if err != nil {
		return Say{}, err
	}
	var request messageRequest
	if err := readJSON(w, r, messageBodyMax, &request); err != nil {
		return Say{}, err
	}
	if err := errors.Join(checkText(request.Text), sessions.CheckWorkspace(request.Workspace)); err != nil {
		return Say{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	to, err := s.resolve(ctx, callerOf(r), r.PathValue("id"))
	if err == nil && request.Surface != "" {
		to, err = s.saidAt(ctx, callerOf(r), r.PathValue("id"), request.Surface)
	}
	if err != nil {
		return Say{}, err
	}
	sender, err := senderOf(request.Sender)
	if err == nil {
		err = callerOf(r).mayBe(sender.ID)
	}
	who := callerOf(r)
	return Say{Key: who.said(r.PathValue("id"), key), Namespace: who.Namespace, MaxRole: who.maxRole, Surface: to.surface, Session: to.session, Held: to.held, Sender: sender,
		Text: request.Text, Workspace: request.Workspace, Append: request.Append}, err
}

func checkText(text string) error {
	switch {
	case len(text) > TextMax:
		return tooLargeProblem(TextMax)
	case strings.TrimSpace(text) == "":
		return badRequest("The text is empty. Send at least one character in \"text\".")
	}
	return nil
}

// idempotencyKey reads the header of that name: printable ASCII.
func idempotencyKey(r *http.Request) (string, error) {
	key := r.Header.Get("Idempotency-Key")
	return key, conversations.CheckKey(key)
}

// senderOf reads on whose behalf a message comes. Without an id, Operations
// decides: the owner of a local surface.
func senderOf(given *senderJSON) (sender adapters.Sender, err error) {
	if given == nil {
		return sender, nil
	}
	if len(given.ID) > senderMax || len(given.Name) > senderMax {
		return sender, badRequest("The sender's id and name may have at most 256 bytes each.")
	}
	sender.Name = given.Name
	if given.ID == "" {
		return sender, nil
	}
	if !isIdentity(given.ID) {
		return sender, badRequest("The sender's id must look like telegram:12345: a platform, a colon, and the platform's own id of the person.")
	}
	sender.ID = adapters.Identity(given.ID)
	return sender, nil
}

// isIdentity reports whether text is what adapters.NewIdentity writes. It
// escapes its parts as a surface key does.
func isIdentity(text string) bool {
	platform, user, _ := strings.Cut(text, ":")
	surface, err := adapters.ParseSurface(platform + ":" + adapters.Local + ":" + user)
	return err == nil && surface.Thread == ""
}

// waitOf reads ?wait: a duration such as 30s. 0: do not wait.
func waitOf(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("wait")
	if text == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 || wait > WaitMax {
		return 0, badRequest("wait must be a time from 0s to " + WaitMax.String() + ", such as wait=30s.")
	}
	return wait, nil
}

// wantsHTML reports whether answers should carry rendered text as well.
func wantsHTML(r *http.Request) bool { return r.URL.Query().Get("render") == "html" }

// validText keeps what is not UTF-8 out of a page.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
