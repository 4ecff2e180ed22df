package telegram

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"parley/adapters"
)

// Send implements [adapters.Adapter]. Two refusals after which the message is
// certainly not sent are answered by sending it again at once: formatted text
// that Telegram refuses for anything but the place goes as plain text, and a
// topic that is gone becomes the chat itself. Each request begins within ctx's
// deadline, so all of them within the right to send.
func (a *Adapter) Send(ctx context.Context, message adapters.Outgoing) (adapters.Receipt, error) {
	to, err := targetOf(message.Surface, a.Account())
	if err != nil {
		return adapters.Receipt{}, &adapters.SendError{Kind: adapters.SendRefused, Reason: err.Error(), Err: err}
	}
	plain := false
	for {
		receipt, err := a.send(ctx, message, to, plain)
		switch {
		case err == nil:
			return receipt, nil
		case to.thread != 0 && refusedFor(err, "message thread not found"):
			a.logger.Warn("the topic is gone; sent to the chat", "surface", message.Surface)
			to.thread = 0
		case !plain && message.Format != adapters.Plain && refusedContent(err, message.Surface):
			a.logger.Error("Telegram refuses the formatted text; sent as plain text", "surface", message.Surface, "error", err)
			plain = true
		default:
			return adapters.Receipt{}, sendError(err, message.Surface)
		}
	}
}

// send makes one request. An answer of success that names no message is a
// success all the same: the message is there.
func (a *Adapter) send(ctx context.Context, message adapters.Outgoing, to target, plain bool) (adapters.Receipt, error) {
	var result json.RawMessage
	if err := a.client.call(ctx, callTimeout, "sendMessage", render(message, to, plain), &result); err != nil {
		return adapters.Receipt{}, err
	}
	id, ok := sentID(result)
	if !ok {
		a.logger.Error("Telegram took a message and did not say its id", "surface", message.Surface)
		return adapters.Receipt{}, nil
	}
	return adapters.Receipt{MessageIDs: []string{id}}, nil
}

func sentID(result json.RawMessage) (string, bool) {
	var sent struct {
		MessageID *int64 `json:"message_id"`
	}
	if json.Unmarshal(result, &sent) != nil || sent.MessageID == nil {
		return "", false
	}
	return strconv.FormatInt(*sent.MessageID, 10), true
}

// refusedContent reports a refusal that is not about the chat, the topic, the
// bot's rights or a limit: then it is about what the message says.
func refusedContent(err error, surface adapters.Surface) bool {
	return refusedFor(err, "") && sendError(err, surface).Kind == adapters.SendRefused
}

func refusedFor(err error, words string) bool {
	answer := refusal(err)
	return answer != nil && answer.Code == http.StatusBadRequest && strings.Contains(answer.Message, words)
}

// Typing implements [adapters.Typer].
func (a *Adapter) Typing(ctx context.Context, surface adapters.Surface) error {
	to, err := targetOf(surface, a.Account())
	if err != nil {
		return err
	}
	params := to.params()
	params["action"] = "typing"
	return a.client.call(ctx, callTimeout, "sendChatAction", params, nil)
}
