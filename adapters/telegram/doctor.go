package telegram

import (
	"context"
	"fmt"

	"parley/adapters"
)

// remedyPrivacy says how a bot gets to read group messages.
const remedyPrivacy = "in @BotFather: /setprivacy, choose the bot, Disable; then remove the bot from each group and add it again (or make it an administrator)"

// Diagnose implements [adapters.Doctor].
func (a *Adapter) Diagnose(ctx context.Context) []adapters.Finding {
	me, err := a.getMe(ctx)
	if err != nil {
		return []adapters.Finding{unreachable(err)}
	}
	findings := []adapters.Finding{{Level: adapters.LevelOK, What: fmt.Sprintf("Telegram knows the bot as @%s (account %s)", me.Username, me.account())}}
	return append(findings, privacyFinding(me), a.webhookFinding(ctx))
}

func unreachable(err error) adapters.Finding {
	if tokenRefused(err) {
		return adapters.Finding{Level: adapters.LevelProblem, What: "Telegram refuses the token", Remedy: remedyToken}
	}
	return adapters.Finding{
		Level: adapters.LevelProblem, What: "Telegram cannot be reached: " + err.Error(),
		Remedy: "check the network, a proxy in between, and TELEGRAM_API_URL",
	}
}

func privacyFinding(me *self) adapters.Finding {
	if me.ReadsAll {
		return adapters.Finding{Level: adapters.LevelOK, What: "privacy mode is off: the bot hears all messages of its groups"}
	}
	return adapters.Finding{
		Level:  adapters.LevelWarning,
		What:   "privacy mode is on: in groups the bot hears only commands and replies to it, unless it is an administrator",
		Remedy: remedyPrivacy,
	}
}

func (a *Adapter) webhookFinding(ctx context.Context) adapters.Finding {
	hook, err := a.webhook(ctx)
	switch {
	case err != nil:
		return adapters.Finding{Level: adapters.LevelUnchecked, What: "whether a webhook is set: " + err.Error(), Remedy: "run gateway doctor again"}
	case hook.URL == "":
		return adapters.Finding{Level: adapters.LevelOK, What: "no webhook is set: polling works"}
	}
	return adapters.Finding{
		Level:  adapters.LevelProblem,
		What:   "a webhook at " + hook.host() + " receives the bot's messages instead of this gateway",
		Remedy: "gateway run removes it; if another program needs it, give that one a bot of its own",
	}
}
