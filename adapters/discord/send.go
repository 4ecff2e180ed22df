package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"parley/adapters"
	"parley/adapters/markdown"
)

// sent is what is read of Discord's answer to a message.
type sent struct {
	ID string `json:"id"`
}

// Send delivers one message: as the answer to an interaction while that is
// open, else as a message of its own.
func (a *Adapter) Send(ctx context.Context, m adapters.Outgoing) (adapters.Receipt, error) {
	text, err := a.fit(m)
	if err != nil {
		return adapters.Receipt{}, err
	}
	if isInteraction(m.ReplyTo) {
		receipt, done, err := a.answerInteraction(ctx, m, text)
		if done {
			return receipt, err
		}
	}
	channel := channelOf(m.Surface)
	if wait, global := a.pace.wait(channel, time.Now()); wait > 0 {
		return adapters.Receipt{}, &adapters.SendError{
			Kind: adapters.SendRateLimited, RetryAfter: wait, Global: global, Reason: "Discord's rate limit is used up; not asked",
		}
	}
	return a.post(ctx, channel, renderPost(m, text))
}

// fit renders a message and refuses what Discord would refuse.
func (a *Adapter) fit(m adapters.Outgoing) (string, error) {
	if m.Surface.Platform != adapters.Discord || !isSnowflake(channelOf(m.Surface)) {
		return "", &adapters.SendError{Kind: adapters.SendGone, Reason: fmt.Sprintf("%s is not a Discord channel", m.Surface)}
	}
	text := content(m)
	if strings.TrimSpace(text) == "" {
		return "", &adapters.SendError{Kind: adapters.SendRefused, Reason: "the message is empty"}
	}
	if n := markdown.UTF16Length(text); n > textMax {
		return "", &adapters.SendError{Kind: adapters.SendRefused, Reason: fmt.Sprintf("the message has %d characters, Discord takes %d: it was not split", n, textMax)}
	}
	return text, nil
}

// channelOf is the id by which Discord knows a surface.
func channelOf(surface adapters.Surface) string {
	if surface.Thread != "" {
		return surface.Thread
	}
	return surface.Chat
}

// post sends a new message. If Discord refuses it only for the message it
// answers, it is sent without referring to that.
func (a *Adapter) post(ctx context.Context, channel string, body post) (adapters.Receipt, error) {
	receipt, failed := a.tryPost(ctx, channel, body)
	if failed != nil && body.Reference != nil && failed.aboutReference() {
		body.Reference = nil
		receipt, failed = a.tryPost(ctx, channel, body)
	}
	if failed != nil {
		return adapters.Receipt{}, failed.sendError()
	}
	return receipt, nil
}

func (a *Adapter) tryPost(ctx context.Context, channel string, body post) (adapters.Receipt, *apiError) {
	var answer sent
	limits, err := a.rest.call(ctx, http.MethodPost, "/channels/"+channel+"/messages", body, &answer)
	failed, _ := errors.AsType[*apiError](err)
	switch {
	case failed != nil && failed.status == http.StatusTooManyRequests:
		a.pace.block(channel, failed.global, time.Now().Add(failed.retryAfter))
	case limits.exhausted:
		a.pace.block(channel, false, time.Now().Add(limits.reset))
	}
	if failed != nil {
		return adapters.Receipt{}, failed
	}
	return adapters.Receipt{MessageIDs: []string{answer.ID}}, nil
}

// answerInteraction puts the message where the interaction shows that an
// answer is on its way. An edit can be repeated without harm. done is false
// when the interaction is over, and the message has to go another way.
func (a *Adapter) answerInteraction(ctx context.Context, m adapters.Outgoing, text string) (receipt adapters.Receipt, done bool, err error) {
	id, token, ok := a.seals.open(m.ReplyTo)
	if !ok || !answerable(id, time.Now()) {
		return receipt, false, nil
	}
	app, failed := a.application(ctx)
	var answer sent
	if failed == nil {
		path := "/webhooks/" + app + "/" + url.PathEscape(token) + "/messages/@original"
		_, err = a.rest.call(ctx, http.MethodPatch, path, renderEdit(text), &answer)
		failed, _ = errors.AsType[*apiError](err)
	}
	switch {
	case failed == nil:
		return adapters.Receipt{MessageIDs: []string{answer.ID}}, true, nil
	case failed.status == http.StatusNotFound, failed.status == http.StatusUnauthorized && !failed.refused():
		return receipt, false, nil
	}
	failed.reason = strings.ReplaceAll(failed.reason, token, "***")
	return receipt, true, failed.sendError()
}

// Typing shows that an answer is being written.
func (a *Adapter) Typing(ctx context.Context, surface adapters.Surface) error {
	channel := channelOf(surface)
	if !isSnowflake(channel) {
		return fmt.Errorf("%s is not a Discord channel", surface)
	}
	if wait, _ := a.pace.wait(channel, time.Now()); wait > 0 {
		return nil
	}
	_, err := a.rest.call(ctx, http.MethodPost, "/channels/"+channel+"/typing", nil, nil)
	return err
}
