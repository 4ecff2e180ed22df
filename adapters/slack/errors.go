package slack

import (
	"errors"
	"net/http"
	"time"

	slackapi "github.com/slack-go/slack"

	"parley/adapters"
)

// remedy says what to do about a refusal that no retry mends; empty for every
// other code. The app-level token opens sockets, the bot token does all else.
func remedy(code string, appToken bool) string {
	which, where := "bot token", "copy it again from OAuth & Permissions"
	if appToken {
		which, where = "app-level token", "make a new one under Basic Information"
	}
	switch code {
	case "invalid_auth", "not_authed", "token_expired":
		return "Slack does not accept the " + which + " (" + code + "): " + where
	case "token_revoked":
		return "the " + which + " was revoked (token_revoked): " + where
	case "account_inactive", "user_removed_from_team", "team_disabled":
		return "the app is no longer part of the workspace (" + code + "): install it again"
	case "not_allowed_token_type":
		return "the " + which + " is of the wrong type (not_allowed_token_type): the bot token begins with xoxb-, the app-level token with xapp-"
	case "missing_scope":
		if appToken {
			return "the app-level token lacks the scope connections:write (missing_scope): " + where
		}
		return "the bot token lacks a scope (missing_scope): add what `gateway doctor` names and install the app again"
	}
	return ""
}

// refusedError ends Run: Slack refuses the credentials.
type refusedError struct{ problem string }

func (e *refusedError) Error() string { return "slack: " + e.problem }

// sendError classes a failed chat.postMessage.
func sendError(err error) *adapters.SendError {
	classed := &adapters.SendError{Kind: adapters.SendUnknown, Reason: err.Error(), Err: err}
	if limited, ok := errors.AsType[*slackapi.RateLimitedError](err); ok {
		classed.Kind, classed.RetryAfter = adapters.SendRateLimited, limited.RetryAfter
		return classed
	}
	if status, ok := errors.AsType[slackapi.StatusCodeError](err); ok {
		classed.Kind = kindOfStatus(status.Code)
		return classed
	}
	if call, ok := errors.AsType[*callError](err); ok && !call.Written {
		classed.Kind = adapters.SendUnavailable
		return classed
	}
	if code := refusal(err); code != "" {
		classed.Kind = kindOfRefusal(code)
		classed.Reason = explain(code)
		if classed.Kind == adapters.SendRateLimited {
			classed.RetryAfter = retryAfterDefault
		}
	}
	return classed
}

// kindOfStatus classes an answer that is not of Slack's API itself: of
// something before it, where it is below 500.
func kindOfStatus(code int) adapters.SendKind {
	switch {
	case code == http.StatusRequestEntityTooLarge:
		return adapters.SendRefused
	case code == http.StatusServiceUnavailable, code >= http.StatusMultipleChoices && code < http.StatusInternalServerError && code != http.StatusRequestTimeout:
		return adapters.SendUnavailable
	}
	return adapters.SendUnknown
}

// kindOfRefusal classes the codes of chat.postMessage. A code that is not
// listed is SendUnknown: internal_error and fatal_error leave open whether
// the message was posted, and so does what Slack may add.
func kindOfRefusal(code string) adapters.SendKind {
	switch code {
	case "channel_not_found", "is_archived", "not_in_channel", "user_not_found", "user_disabled", "messages_tab_disabled",
		"cannot_dm_bot", "thread_not_found", "cannot_reply_to_message", "restricted_action", "restricted_action_read_only_channel",
		"restricted_action_thread_only_channel", "restricted_action_non_threadable_channel", "restricted_action_thread_locked",
		"ekm_access_denied", "team_not_found", "channel_type_not_supported":
		return adapters.SendGone
	case "msg_too_long", "no_text", "msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format", "too_many_attachments",
		"too_many_contact_cards", "invalid_arguments", "invalid_metadata_format", "metadata_too_large",
		"invalid_metadata_schema", "attachment_payload_limit_exceeded", "markdown_text_conflict", "block_mismatch":
		return adapters.SendRefused
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "missing_scope", "not_allowed_token_type",
		"no_permission", "org_login_required", "enterprise_is_restricted", "team_access_not_granted", "access_denied",
		"two_factor_setup_required", "user_removed_from_team", "team_disabled":
		return adapters.SendDenied
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		return adapters.SendRateLimited
	case "service_unavailable", "request_timeout", "team_added_to_org", "accesslimited":
		return adapters.SendUnavailable
	}
	return adapters.SendUnknown
}

// explain adds to a code what is not plain from it.
func explain(code string) string {
	switch code {
	case "not_in_channel":
		return code + ": invite the app to the channel"
	case "messages_tab_disabled":
		return code + ": switch the Messages tab on under App Home"
	}
	if text := remedy(code, false); text != "" {
		return text
	}
	return code
}

// waitFor is how long Slack asked to be left alone; 0 where it did not.
func waitFor(err error) time.Duration {
	if limited, ok := errors.AsType[*slackapi.RateLimitedError](err); ok {
		return limited.RetryAfter
	}
	return 0
}
