package telegram

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/adapters"
	"parley/internal/pause"
)

// remedyToken says what to do about a token that Telegram refuses.
const remedyToken = "Telegram refuses the token: copy the bot's current one from @BotFather into TELEGRAM_BOT_TOKEN"

// Run implements [adapters.Adapter]. Its only goroutines are the lanes of the
// batch at hand, which end with it.
func (a *Adapter) Run(ctx context.Context, sink adapters.Sink) error {
	defer a.client.http.CloseIdleConnections()
	a.health.set(adapters.Connecting, "")
	if err := a.introduce(ctx); err != nil {
		return ended(ctx, err)
	}
	err := ended(ctx, a.receive(ctx, sink))
	if err == nil {
		a.health.set(adapters.Connecting, "")
	}
	return err
}

// receive polls while this replica has the right to, and waits for it otherwise.
func (a *Adapter) receive(ctx context.Context, sink adapters.Sink) error {
	if a.locker == nil {
		return a.poll(ctx, sink)
	}
	for ctx.Err() == nil {
		lock, err := a.locker.Lock(ctx, "telegram:"+a.Account(), func() { a.health.set(adapters.Waiting, "") })
		if err != nil {
			return err
		}
		a.health.set(adapters.Connecting, "")
		err = a.poll(lock.Context(), sink) //nolint:contextcheck // the lock ends with ctx
		lost := lock.Context().Err() != nil
		lock.Unlock()
		if !lost {
			return err
		}
	}
	return ctx.Err()
}

// ended turns what the end of ctx caused into a clean end.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// introduce learns who the bot is, however long that takes.
func (a *Adapter) introduce(ctx context.Context) error {
	for failures := 1; ; failures++ {
		me, err := a.getMe(ctx)
		if err == nil {
			a.self.Store(me)
			a.announce(me)
			return nil
		}
		if tokenRefused(err) {
			return a.refused()
		}
		if err := a.pause(ctx, err, failures); err != nil {
			return err
		}
	}
}

func (a *Adapter) getMe(ctx context.Context) (*self, error) {
	var me self
	if err := a.client.call(ctx, callTimeout, "getMe", nil, &me); err != nil {
		return nil, err
	}
	if me.ID == 0 {
		return nil, errors.New("telegram getMe: the answer names no bot")
	}
	return &me, nil
}

func (a *Adapter) announce(me *self) {
	a.logger.Info("connected to Telegram", "bot", "@"+me.Username, "account", me.account())
}

func (a *Adapter) refused() error {
	a.health.set(adapters.Refused, remedyToken)
	return errors.New("telegram: " + remedyToken)
}

// pause reports a failure, and waits as long as it asks for or, with growing
// steps, as the number of failures in a row does.
func (a *Adapter) pause(ctx context.Context, err error, failures int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d := again().After(failures)
	problem := "Telegram cannot be reached (" + err.Error() + "): check the network and TELEGRAM_API_URL; trying again"
	if answer := refusal(err); answer != nil {
		problem = "Telegram answers " + answer.Message + "; trying again"
		if answer.RetryAfter > 0 {
			d = time.Duration(answer.RetryAfter)*time.Second + pause.Range{Max: time.Second}.Between()
		}
	}
	a.deaf(problem, d)
	return a.wait(ctx, d)
}

func (a *Adapter) deaf(problem string, d time.Duration) {
	if a.health.set(adapters.Deaf, problem) {
		a.logger.Warn("Telegram connection lost", "problem", problem, "again_in", d.Round(time.Millisecond))
		return
	}
	a.logger.Debug("Telegram connection still lost", "problem", problem, "again_in", d.Round(time.Millisecond))
}

// reconnect reacts to a failed poll; it returns an error only to end polling.
func (a *Adapter) reconnect(ctx context.Context, err error, failures int) error {
	answer := refusal(err)
	switch {
	case tokenRefused(err):
		return a.doubleCheck(ctx, err, failures)
	case answer == nil || answer.Code != http.StatusConflict:
		return a.pause(ctx, err, failures)
	}
	atStart := a.health.get().State == adapters.Connecting
	if hook, err := a.webhook(ctx); err == nil && hook.URL != "" && a.removeWebhook(ctx, hook) && atStart {
		a.health.set(adapters.Deaf, "a webhook received this bot's messages; it was removed")
		return nil
	}
	d := conflicts().Between()
	a.deaf("another program receives this bot's messages ("+answer.Message+"): stop it, or give this gateway a bot of its own from @BotFather", d)
	return a.wait(ctx, d)
}

// doubleCheck asks once more whether the token is refused, so that one odd
// answer of a server that restarts does not end the connection.
func (a *Adapter) doubleCheck(ctx context.Context, err error, failures int) error {
	if _, again := a.getMe(ctx); tokenRefused(again) {
		return a.refused()
	}
	return a.pause(ctx, err, failures)
}

type webhookInfo struct {
	URL       string `json:"url"`
	Pending   int    `json:"pending_update_count"`
	LastError string `json:"last_error_message"`
}

// host is the webhook's host: its path may hold a secret.
func (w webhookInfo) host() string {
	if parsed, err := url.Parse(w.URL); err == nil && parsed.Host != "" {
		return parsed.Host
	}
	return "an unreadable URL"
}

func (a *Adapter) webhook(ctx context.Context) (webhookInfo, error) {
	var info webhookInfo
	err := a.client.call(ctx, callTimeout, "getWebhookInfo", nil, &info)
	return info, err
}

// removeWebhook removes a webhook, and keeps the updates that wait for it.
func (a *Adapter) removeWebhook(ctx context.Context, hook webhookInfo) bool {
	params := tgbotapi.Params{"drop_pending_updates": "false"}
	if err := a.client.call(ctx, callTimeout, "deleteWebhook", params, nil); err != nil {
		a.logger.Warn("the webhook that keeps messages from this gateway cannot be removed", "error", err)
		return false
	}
	a.logger.Warn("removed the webhook that kept messages from this gateway; if another program sets it again, give one of the two its own bot",
		"webhook_host", hook.host(), "pending", hook.Pending)
	return true
}
