package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"parley/sessions"
	"parley/sessions/view"
)

// transcriptType is the media type of a transcript.
const transcriptType = "application/jsonl"

// Session is a record as the API shows it.
type Session struct {
	sessions.Record
	Leaf string `json:"leaf,omitempty"` // the id of the entry where it stands
}

// View is a record of a store as the API would show it.
func View(record sessions.Record) Session { return Session{Record: record, Leaf: record.LeafID()} }

// Found is a page of sessions.
type Found struct {
	Sessions []Session `json:"sessions"`
	Next     string    `json:"next,omitempty"` // the cursor of the page behind it
}

// Find lists sessions, a page at a time.
func (c *Client) Find(ctx context.Context, query sessions.Query) (Found, error) {
	values := url.Values{}
	for name, value := range map[string]string{
		"user": query.UserID, "participant": query.Participant, "workspace": query.WorkspaceID,
		"surface": query.Surface, "type": string(query.Type), "cursor": query.Cursor,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	for _, state := range query.States {
		values.Add("state", string(state))
	}
	if !query.ActiveAfter.IsZero() {
		values.Set("active_after", query.ActiveAfter.UTC().Format(time.RFC3339))
	}
	if query.Limit > 0 {
		values.Set("limit", strconv.Itoa(query.Limit))
	}
	var found Found
	return found, c.call(ctx, http.MethodGet, "/v1/sessions?"+values.Encode(), "", nil, &found)
}

// Session reads a record. sessions.ErrNotFound.
func (c *Client) Session(ctx context.Context, id string) (Session, error) {
	var session Session
	return session, c.call(ctx, http.MethodGet, sessionPath(id, ""), "", nil, &session)
}

// Tree reads the newest part of a session's tree.
func (c *Client) Tree(ctx context.Context, id string, limit int) (view.Tree, error) {
	var tree view.Tree
	return tree, c.call(ctx, http.MethodGet, sessionPath(id, "/tree?limit="+strconv.Itoa(limit)), "", nil, &tree)
}

// Feed reads what people watch of the newest entries, at most limit of them.
func (c *Client) Feed(ctx context.Context, id string, limit int) ([]view.FeedItem, error) {
	var answer struct {
		Items []view.FeedItem `json:"items"`
	}
	err := c.call(ctx, http.MethodGet, sessionPath(id, "/feed?before=0&limit="+strconv.Itoa(limit)), "", nil, &answer)
	return answer.Items, err
}

// Fork copies a branch into a new session: the one that ends with the entry at;
// nil: where the session stands; the empty id: before the first entry.
func (c *Client) Fork(ctx context.Context, id string, at *string, name string) (Session, error) {
	body := map[string]any{}
	if at != nil {
		body["entry"] = *at
	}
	if at != nil && *at == "" {
		body["entry"] = nil
	}
	if name != "" {
		body["name"] = name
	}
	var answer struct {
		Session Session `json:"session"`
	}
	response, err := c.patient(ctx, http.MethodPost, sessionPath(id, "/fork"), body)
	if err != nil {
		return answer.Session, err
	}
	defer func() { _ = response.Body.Close() }() // read to its end, or given up
	return answer.Session, c.decode(response, &answer)
}

// patient sends a request that may take long, once.
func (c *Client) patient(ctx context.Context, method, path string, body any) (*http.Response, error) {
	return c.do(ctx, method, path, body, http.Header{"Idempotency-Key": {rand.Text()}})
}

// Clear erases a session's entries.
func (c *Client) Clear(ctx context.Context, id string) (Session, error) {
	var session Session
	return session, c.call(ctx, http.MethodPost, sessionPath(id, "/clear"), rand.Text(), nil, &session)
}

// Delete removes a session.
func (c *Client) Delete(ctx context.Context, id string) error {
	_, err := c.remove(ctx, sessionPath(id, ""))
	return err
}

// Discard removes a session that was opened by hand and in which no turn ever
// ended; false: it was none, and stays.
func (c *Client) Discard(ctx context.Context, id string) (bool, error) {
	return c.remove(ctx, sessionPath(id, "?unused=1"))
}

func (c *Client) remove(ctx context.Context, path string) (bool, error) {
	var answer struct {
		Deleted bool `json:"deleted"`
	}
	return answer.Deleted, c.call(ctx, http.MethodDelete, path, "", nil, &answer)
}

// Export writes a session's transcript to w. An error in the middle means that
// what was written is not the whole.
func (c *Client) Export(ctx context.Context, id string, w io.Writer) error {
	response, err := c.do(ctx, http.MethodGet, sessionPath(id, "/export"), nil, http.Header{})
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(w, response.Body); err != nil {
		return fmt.Errorf("the export was cut off: %w", err)
	}
	return nil
}

// Import makes a session of a transcript. newID draws an id for it instead of
// its own. sessions.ErrConflict: its id is taken.
func (c *Client) Import(ctx context.Context, r io.Reader, newID bool) (Session, error) {
	path := "/v1/sessions/import"
	if newID {
		path += "?new_id=1"
	}
	var session Session
	response, err := c.transmit(ctx, http.MethodPost, path, r, http.Header{"Content-Type": {transcriptType}, "Idempotency-Key": {rand.Text()}})
	if response, err = succeeded(response, err); err != nil {
		return session, err
	}
	defer func() { _ = response.Body.Close() }() // read to its end, or given up
	return session, c.decode(response, &session)
}

// decode reads an answer.
func (c *Client) decode(response *http.Response, into any) error {
	if err := json.NewDecoder(io.LimitReader(response.Body, answerMax)).Decode(into); err != nil {
		return fmt.Errorf("the gateway at %s sent an answer that cannot be read: %w", c.base, err)
	}
	return nil
}
