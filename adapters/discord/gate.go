package discord

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/adapters"
	"parley/internal/pause"
)

// identifyEvery is how often Discord lets one group of shards identify.
const identifyEvery = 5 * time.Second

// gate spaces the identifies of all shards of this process. The zero value is
// ready.
type gate struct {
	mu   sync.Mutex
	next map[int]time.Time // per group of shards: not before
}

// reserve takes the next free moment of a shard's group and says how far it is.
func (g *gate) reserve(shard, concurrency int, every time.Duration, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil {
		g.next = map[int]time.Time{}
	}
	group := shard % max(concurrency, 1)
	at := now
	if g.next[group].After(at) {
		at = g.next[group]
	}
	g.next[group] = at.Add(every)
	return at.Sub(now)
}

// admit waits until the shard may identify, and returns the address to dial.
// Discord counts identifies and resets the token of a bot with too many, so a
// session that ends soon makes the next wait longer, and a day's budget that
// is used up is waited for.
func (s *shard) admit(ctx context.Context) (string, error) {
	if s.identifies > 0 {
		pause.For(ctx, s.a.times.renew.After(s.identifies))
	}
	for {
		gateway, err := s.a.fetchGateway(ctx)
		if err != nil {
			return "", err
		}
		limit := gateway.SessionStartLimit
		if limit.Total == 0 || limit.Remaining > 0 {
			pause.For(ctx, s.gate.reserve(s.id, limit.MaxConcurrency, s.a.times.identify, time.Now()))
			s.identifies++
			return gateway.URL, ctx.Err()
		}
		wait := max(time.Duration(limit.ResetAfter)*time.Millisecond, s.a.times.retry.Max)
		s.report(adapters.Deaf, fmt.Sprintf("Discord allows no new session for %s: find out what keeps ending them, such as another program with the same token", wait.Round(time.Second)))
		pause.For(ctx, wait)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
}

// meet learns who the bot is and how many shards it needs, for as long as it
// takes. The error is ctx's, or says that the token is refused.
func (a *Adapter) meet(ctx context.Context) (discordgo.GatewayBotResponse, error) {
	for try := 1; ; try++ {
		err := a.learn(ctx)
		var gateway discordgo.GatewayBotResponse
		if err == nil {
			gateway, err = a.fetchGateway(ctx)
		}
		if err == nil {
			return gateway, nil
		}
		failed, _ := errors.AsType[*apiError](err)
		if failed != nil && failed.refused() {
			return gateway, errTokenRefused
		}
		if ctx.Err() != nil {
			return gateway, ctx.Err()
		}
		wait := a.times.retry.After(try)
		if failed != nil {
			wait = max(wait, failed.retryAfter)
		}
		a.health.set(adapterPart, adapters.Deaf, "Discord cannot be reached: "+err.Error())
		a.log.Warn("Discord cannot be reached; it is tried again", "after", wait, "error", err)
		pause.For(ctx, wait)
		if ctx.Err() != nil {
			return gateway, ctx.Err()
		}
	}
}

var errTokenRefused = errors.New("the token is not accepted by Discord: " + remedyToken)
