package telegram

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/adapters"
)

// retryAfterDefault is how long to hold back when Telegram asks for it without
// saying how long.
const retryAfterDefault = 5 * time.Second

// sendError classes a failed call to sendMessage.
func sendError(err error, surface adapters.Surface) *adapters.SendError {
	classed := &adapters.SendError{Kind: adapters.SendUnknown, Reason: err.Error(), Err: err}
	var call *callError
	var status *statusError
	switch {
	case refusal(err) != nil:
		refused(classed, refusal(err), surface)
	case errors.As(err, &status):
		if status.Code < http.StatusInternalServerError {
			classed.Kind = adapters.SendUnavailable
		}
	case errors.As(err, &call) && !call.Written:
		classed.Kind = adapters.SendUnavailable
	}
	return classed
}

// refused classes Telegram's own answer.
func refused(classed *adapters.SendError, answer *tgbotapi.Error, surface adapters.Surface) {
	classed.Reason = answer.Message
	switch {
	case answer.RetryAfter > 0 || answer.Code == http.StatusTooManyRequests:
		classed.Kind = adapters.SendRateLimited
		classed.RetryAfter = max(time.Duration(answer.RetryAfter)*time.Second, 0)
		if answer.RetryAfter <= 0 {
			classed.RetryAfter = retryAfterDefault
		}
	case answer.MigrateToChatID != 0:
		classed.Kind = adapters.SendMoved
		classed.MovedTo = surface
		classed.MovedTo.Chat = strconv.FormatInt(answer.MigrateToChatID, 10)
		classed.MovedTo.Thread = ""
	case answer.Code == http.StatusUnauthorized || answer.Code == http.StatusNotFound:
		classed.Kind = adapters.SendDenied
	case answer.Code == http.StatusForbidden || meansGone(answer.Message):
		classed.Kind = adapters.SendGone
	case answer.Code >= http.StatusBadRequest && answer.Code < http.StatusInternalServerError:
		classed.Kind = adapters.SendRefused
	}
}

// meansGone knows the refusals with code 400 that hold for the whole chat.
func meansGone(reason string) bool {
	for _, words := range []string{
		"chat not found", "PEER_ID_INVALID", "USER_IS_BLOCKED", "user is deactivated", "group chat was deactivated",
		"not enough rights", "have no rights", "CHAT_WRITE_FORBIDDEN", "CHAT_RESTRICTED",
		"need administrator rights", "TOPIC_CLOSED", "TOPIC_DELETED",
	} {
		if strings.Contains(reason, words) {
			return true
		}
	}
	return false
}
