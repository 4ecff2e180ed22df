package slack

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"parley/adapters"
)

// Bounds of the search for a message of unknown fate.
const (
	lookBack = 24 * time.Hour // how old it can be
	pageSize = 200
	pagesMax = 5
)

// Send implements [adapters.Adapter]. A message that an earlier attempt may
// have posted is looked for first, by its delivery id, and its receipt
// returned if it is there.
func (a *Adapter) Send(ctx context.Context, out adapters.Outgoing) (adapters.Receipt, error) {
	if err := a.sendable(out); err != nil {
		return adapters.Receipt{}, err
	}
	if out.MaybeSent && out.DeliveryID != "" {
		found, err := a.find(ctx, out)
		if err != nil || found != "" {
			return receipt(found), a.failed(err)
		}
	}
	posted, err := a.post(ctx, render(out))
	switch code := refusal(err); code {
	case "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long":
		a.logger.Warn("slack: Slack refuses the formatted message, sending it as text", "reason", code)
		posted, err = a.post(ctx, renderText(out))
	case "duplicate_message_not_found", "duplicate_channel_not_found":
		posted, err = a.repost(ctx, out)
	}
	if err == nil {
		a.tookPart(out.Surface.Chat, out.Surface.Thread)
	}
	return receipt(posted), a.failed(err)
}

func receipt(ts string) adapters.Receipt {
	if ts == "" {
		return adapters.Receipt{}
	}
	return adapters.Receipt{MessageIDs: []string{ts}}
}

// sendable refuses what Slack would not understand.
func (a *Adapter) sendable(out adapters.Outgoing) error {
	surface := out.Surface
	if surface.Platform != adapters.Slack || !isID(surface.Chat) || surface.Thread != "" && !isTS(surface.Thread) {
		return &adapters.SendError{Kind: adapters.SendGone, Reason: "the surface " + surface.Key() + " is none of Slack's"}
	}
	if me := a.Account(); me != "" && surface.Account != me {
		return &adapters.SendError{Kind: adapters.SendGone, Reason: "the surface " + surface.Key() + " belongs to another bot than " + me}
	}
	return nil
}

// failed classes an error, and has the token checked where Slack refused it.
func (a *Adapter) failed(err error) error {
	if err == nil {
		return nil
	}
	if already, ok := errors.AsType[*adapters.SendError](err); ok {
		return already
	}
	classed := sendError(err)
	if classed.Kind == adapters.SendDenied {
		a.doubt()
	}
	return classed
}

func (a *Adapter) post(ctx context.Context, values url.Values) (ts string, err error) {
	var answer struct {
		TS string `json:"ts"`
	}
	if _, err := a.call(ctx, "chat.postMessage", values, &answer); err != nil {
		return "", err
	}
	if !isTS(answer.TS) {
		return "", &callError{Written: true, Err: errors.New("chat.postMessage names no message")}
	}
	return answer.TS, nil
}

// repost: Slack takes the client_msg_id for one it has seen, and has no such
// message. If it is not in the history either, it goes without.
func (a *Adapter) repost(ctx context.Context, out adapters.Outgoing) (string, error) {
	found, err := a.find(ctx, out)
	if err != nil || found != "" {
		return found, err
	}
	values := render(out)
	values.Del("client_msg_id")
	return a.post(ctx, values)
}

// historyPage is what is read of a page of history.
type historyPage struct {
	Messages []struct {
		TS       string           `json:"ts"`
		BotID    string           `json:"bot_id"`
		Metadata deliveryMetadata `json:"metadata"`
	} `json:"messages"`
	HasMore  bool `json:"has_more"`
	Metadata struct {
		Cursor string `json:"next_cursor"`
	} `json:"response_metadata"`
}

// find looks for a delivery among the surface's messages of the last day, and
// gives its id, or "" where it certainly is not there, or where nobody can
// look: then posting it again is the lesser evil. Every other failure is an
// error.
func (a *Adapter) find(ctx context.Context, out adapters.Outgoing) (string, error) {
	me := a.me.Load()
	if me == nil {
		var err error
		if me, _, err = a.identify(ctx); err != nil {
			return "", notPosted(err)
		}
	}
	method := "conversations.history"
	values := url.Values{
		"channel": {out.Surface.Chat}, "include_all_metadata": {"true"}, "limit": {strconv.Itoa(pageSize)},
		"oldest": {strconv.FormatInt(a.now().Add(-lookBack).Unix(), 10)},
	}
	if out.Surface.Thread != "" {
		method = "conversations.replies"
		values.Set("ts", out.Surface.Thread)
	}
	for range pagesMax {
		var page historyPage
		_, err := a.call(ctx, method, values, &page)
		if code := refusal(err); code == "missing_scope" || code == "thread_not_found" {
			a.logger.Warn("slack: cannot look whether a message was sent, sending it again", "reason", code)
			return "", nil
		}
		if err != nil {
			return "", notPosted(err)
		}
		if ts := page.find(out.DeliveryID, me.Bot); ts != "" {
			return ts, nil
		}
		if !page.HasMore || page.Metadata.Cursor == "" {
			return "", nil
		}
		values.Set("cursor", page.Metadata.Cursor)
	}
	return "", nil
}

// find gives the message of a delivery, by this bot: another could copy the
// metadata.
func (p historyPage) find(delivery, bot string) string {
	for _, m := range p.Messages {
		if m.BotID == bot && m.Metadata.EventType == metadataType && m.Metadata.EventPayload.DeliveryID == delivery && isTS(m.TS) {
			return m.TS
		}
	}
	return ""
}

// notPosted classes a failed search: this attempt posted nothing, and what the
// one before did stays unknown.
func notPosted(err error) error {
	classed := sendError(err)
	if classed.Kind == adapters.SendUnavailable || classed.Kind == adapters.SendRefused {
		classed.Kind = adapters.SendUnknown
	}
	classed.Reason = "looking for an earlier attempt: " + classed.Reason
	return classed
}
