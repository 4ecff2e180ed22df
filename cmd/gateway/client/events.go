package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"parley/api"
	"parley/sessions"
)

// Kind is what an [Event] tells.
type Kind string

// Kinds of events. The first three come from this package, the others from
// the gateway.
const (
	KindConnected Kind = "connected" // the stream stands
	KindLost      Kind = "lost"      // the stream broke; it is tried again
	KindEntry     Kind = "entry"     // one more entry of the log

	KindDelta  Kind = "text_delta" // a piece of an answer being written
	KindStatus Kind = "status"     // what the session is doing
	KindMoved  Kind = "moved"      // the place has another current session
	KindGap    Kind = "gap"        // drafts were missed, or the log is another one
)

// Event is one happening of a session. Which fields count depends on Kind.
type Event struct {
	Kind    Kind
	Session string        // the one it is about
	To      string        // KindMoved: the one that the place has now
	Entry   api.EntryView // KindEntry
	Delta   Delta         // KindDelta
	Status  Status        // KindStatus
	Err     error         // KindLost
}

// Delta is a piece of an answer: Offset counts the bytes before Text.
type Delta struct {
	Turn   int64  `json:"turn"`
	Offset int    `json:"offset"`
	Text   string `json:"text"`
}

// Status is what a session is doing.
type Status struct {
	Status sessions.Status `json:"status"`
	Queued int             `json:"queued"`
}

// eventMax bounds one event of a stream in bytes: an entry with its payload.
const eventMax = 8 << 20

// stream reads a session's events after seq until emit returns false, the
// stream breaks, or ctx ends. It returns nil only in the first case.
func (c *Client) stream(ctx context.Context, session string, after int64, emit func(Event) bool) error {
	header := http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {strconv.FormatInt(after, 10)}}
	path := sessionPath(session, "/events")
	if c.place != "" {
		path += "?surface=" + url.QueryEscape(c.place)
	}
	response, err := c.do(ctx, http.MethodGet, path, nil, header)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if !emit(Event{Kind: KindConnected, Session: session}) {
		return nil
	}
	return readEvents(response.Body, func(name string, data []byte) (bool, error) {
		event, known, err := decodeEvent(session, name, data)
		if err != nil || !known {
			return true, err
		}
		return emit(event), nil
	})
}

// readEvents splits a text/event-stream. take returns false to end it.
func readEvents(body io.Reader, take func(name string, data []byte) (bool, error)) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 64<<10), eventMax)
	name, data := "", []byte(nil)
	for lines.Scan() {
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(lines.Bytes()) == 0 && data != nil:
			more, err := take(name, data)
			if err != nil || !more {
				return err
			}
			name, data = "", nil
		case string(field) == "event":
			name = string(value)
		case string(field) == "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the event stream broke: %w", err)
	}
	return fmt.Errorf("the event stream broke: %w", io.ErrUnexpectedEOF)
}

// decodeEvent reads one event; known is false for a kind of a newer gateway.
func decodeEvent(session, name string, data []byte) (event Event, known bool, err error) {
	event = Event{Kind: Kind(name), Session: session}
	switch name {
	case "user_message", "message", "tool_call", "tool_result", "feed":
		event.Kind = KindEntry
		err = json.Unmarshal(data, &event.Entry)
	case string(KindDelta):
		err = json.Unmarshal(data, &event.Delta)
	case string(KindStatus):
		err = json.Unmarshal(data, &event.Status)
	case string(KindMoved):
		var moved struct {
			Session string `json:"session"`
		}
		err = json.Unmarshal(data, &moved)
		event.To = moved.Session
	case string(KindGap):
	default:
		return event, false, nil
	}
	if err != nil {
		err = fmt.Errorf("the event %s cannot be read: %w", name, err)
	}
	return event, true, err
}
