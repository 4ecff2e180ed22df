package slack

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// threadAge is how long it holds that the bot has no part in a thread, unless
// it writes there itself.
const threadAge = time.Minute

// threadID names a thread for the memory of threads; empty: the message stands
// in none, or in one that the bot began.
func threadID(m message, bot string) string {
	if thread := threadOf(m); isTS(thread) && isID(m.Channel) && m.ParentUserID != bot {
		return m.Channel + ":" + thread
	}
	return ""
}

// fetchThread asks Slack whether the bot has written in a thread: among its
// first messages, as far as one page goes.
func (a *Adapter) fetchThread(ctx context.Context, id string) (bool, error) {
	channel, thread, _ := strings.Cut(id, ":")
	var page struct {
		Messages []struct {
			User string `json:"user"`
		} `json:"messages"`
	}
	if _, err := a.call(ctx, "conversations.replies", url.Values{
		"channel": {channel}, "ts": {thread}, "limit": {strconv.Itoa(pageSize)},
	}, &page); err != nil {
		return false, err
	}
	for _, m := range page.Messages {
		if m.User == a.Account() {
			return true, nil
		}
	}
	return false, nil
}

// tookPart notes that the bot has written in a thread.
func (a *Adapter) tookPart(channel, thread string) {
	if thread != "" {
		a.threads.put(channel+":"+thread, remembered[bool]{value: true, until: a.now().Add(nameAge)})
	}
}
