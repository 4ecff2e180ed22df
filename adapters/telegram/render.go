package telegram

import (
	"fmt"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/adapters"
	"parley/adapters/markdown"
)

// target is a surface in Telegram's own terms.
type target struct {
	chat   int64
	thread int64 // 0: none
}

// targetOf reads a surface; account "" matches any bot.
func targetOf(surface adapters.Surface, account string) (target, error) {
	if surface.Platform != adapters.Telegram || account != "" && surface.Account != account {
		return target{}, fmt.Errorf("%s is not a surface of this Telegram bot", surface)
	}
	var t target
	var err error
	if t.chat, err = strconv.ParseInt(surface.Chat, 10, 64); err != nil || t.chat == 0 {
		return target{}, fmt.Errorf("%s names no Telegram chat", surface)
	}
	if surface.Thread == "" {
		return t, nil
	}
	if t.thread, err = strconv.ParseInt(surface.Thread, 10, 64); err != nil || t.thread <= 0 {
		return target{}, fmt.Errorf("%s names no Telegram topic", surface)
	}
	return t, nil
}

func (t target) params() tgbotapi.Params {
	params := tgbotapi.Params{"chat_id": strconv.FormatInt(t.chat, 10)}
	params.AddNonZero64("message_thread_id", t.thread)
	return params
}

// render turns a message into sendMessage's parameters. Formatted text goes as
// HTML; plain says to send the source as it stands, or what it shows where the
// source is too long for a message.
func render(message adapters.Outgoing, to target, plain bool) tgbotapi.Params {
	params := to.params()
	params["link_preview_options"] = `{"is_disabled":true}`
	switch {
	case message.Format == adapters.Plain || plain && markdown.UTF16Length(message.Text) <= TextMax:
		params["text"] = message.Text
	case plain:
		params["text"] = markdown.TelegramText(message.Text)
	default:
		params["text"] = markdown.Telegram(message.Text)
		params["parse_mode"] = "HTML"
	}
	if id, err := strconv.ParseInt(message.ReplyTo, 10, 64); err == nil && id > 0 {
		params["reply_parameters"] = fmt.Sprintf(`{"message_id":%d,"allow_sending_without_reply":true}`, id)
	}
	return params
}
