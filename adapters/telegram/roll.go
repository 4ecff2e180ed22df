package telegram

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/adapters"
)

// chatMember is what Telegram tells of somebody in a chat.
type chatMember struct {
	Status   string `json:"status"`
	IsMember bool   `json:"is_member"` // of a restricted one
	User     *user  `json:"user"`
}

// inChat: creator, administrator and member are, and a restricted one may be.
func (m chatMember) inChat() bool {
	switch m.Status {
	case "left", "kicked":
		return false
	case "restricted":
		return m.IsMember
	}
	return true
}

// InChat implements [adapters.Roll].
func (a *Adapter) InChat(ctx context.Context, surface adapters.Surface, who adapters.Identity) (bool, error) {
	id := who.User(adapters.Telegram)
	if id == "" {
		return false, fmt.Errorf("telegram: %s is nobody's id there", who)
	}
	var found chatMember
	err := a.client.call(ctx, callTimeout, "getChatMember", tgbotapi.Params{"chat_id": surface.Chat, "user_id": id}, &found)
	if answer := refusal(err); answer != nil && answer.Code == http.StatusBadRequest && meansNobody(answer.Message) {
		return false, nil
	}
	return err == nil && found.inChat(), err
}

// meansNobody knows the refusals that say that somebody was never in the chat.
func meansNobody(reason string) bool {
	for _, words := range []string{"user not found", "member not found", "PARTICIPANT_ID_INVALID", "USER_NOT_PARTICIPANT"} {
		if strings.Contains(reason, words) {
			return true
		}
	}
	return false
}
