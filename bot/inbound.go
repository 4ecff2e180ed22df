package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"parley/adapters"
	"parley/internal/fault"
	"parley/routing"
	"parley/sessions"
)

// noticeFor is how long the same refusal is not said to the same person or
// chat again.
const noticeFor = 10 * time.Minute

// arrival is an event together with what was decided about it.
type arrival struct {
	event    adapters.Event
	user     sessions.User // whose identity the sender's is
	role     routing.Role
	decision routing.Decision
	key      string // dedupe key in the store
	session  string // to this session instead of the surface's; usually empty
	reply    func(text string)
}

// takeIn is the adapters' sink: it returns nil when the event is durable or
// was decided to be dropped.
func (b *Bot) takeIn(ctx context.Context, event adapters.Event) error {
	fault.Here(fault.BeforeWrite)
	if event.Kind == adapters.EventMigrate {
		return b.migrate(ctx, event)
	}
	err := guarded(b.log, "an event", func() error {
		_, err := b.handle(ctx, arrival{event: event})
		return err
	})
	switch {
	case errors.Is(err, errPanic):
		err = b.tripped(ctx, event)
	case isInvalid(err):
		b.log.Error("an event that no store takes was dropped", "surface", event.Surface, "kind", event.Kind, "event", event.ID, "error", err)
		err = nil
	}
	fault.Here(fault.AfterWriteBeforeAck)
	return err
}

// tripped ends an event that set off a fault: it would do so again, and stop
// all that come behind it, so it is dropped. Who may talk to the bot and did so
// alone with it is told.
func (b *Bot) tripped(ctx context.Context, event adapters.Event) error {
	b.log.Error("an event was dropped", "surface", event.Surface, "kind", event.Kind, "event", event.ID)
	if event.Kind != adapters.EventMessage || !event.Direct || b.rank(ctx, event) < routing.Member.Rank() {
		return nil
	}
	return b.say(ctx, "broken:"+string(event.Surface.Platform)+":"+event.ID, sessions.DedupeFor, event.Surface, textBroken, event.MessageID)
}

// rank is that of an event's sender, 0 where it cannot be told.
func (b *Bot) rank(ctx context.Context, event adapters.Event) int {
	_, role, err := b.people.of(ctx, event.Sender)
	if err != nil {
		return 0
	}
	return role.Rank()
}

func (b *Bot) migrate(ctx context.Context, event adapters.Event) error {
	if event.MigratedTo == (adapters.Surface{}) {
		b.log.Warn("a chat moved, but the platform does not say where; dropped", "surface", event.Surface)
		return nil
	}
	from, to := event.Surface.ChatKey(), event.MigratedTo.ChatKey()
	if err := b.store.MoveChat(ctx, from, to); err != nil {
		return err
	}
	b.listed.forget(from)
	b.listed.forget(to)
	b.log.Info("a chat has a new id", "surface", from, "to", to)
	return nil
}

// taken is what became of an arrival.
type taken struct {
	post     sessions.PostResult
	decision routing.Decision
	reply    string // said on a local surface
}

func (b *Bot) handle(ctx context.Context, a arrival) (taken, error) {
	if err := b.decide(ctx, &a); err != nil {
		b.metrics.takenIn(a.event.Surface.Platform, a.decision.Reason, "", err)
		return taken{}, err
	}
	var out taken
	a.reply = func(text string) { out.reply = text }
	var err error
	switch a.decision.Action {
	case routing.ActionTurn, routing.ActionLog:
		if out.post, err = b.post(ctx, a); err == nil {
			err = b.complete(ctx, a, out.post)
		}
	case routing.ActionCommand:
		out.post, err = b.command(ctx, a)
	case routing.ActionNotice:
		err = b.answer(ctx, a, b.noticeKey(a), noticeFor, noticeText(a))
	}
	out.decision = a.decision
	b.logDecision(ctx, a, out, err)
	return out, err
}

// decide resolves who speaks and where, and asks routing. A store that cannot
// say who somebody is or whether a group is allowed is an error: the event is
// neither let in nor lost.
func (b *Bot) decide(ctx context.Context, a *arrival) error {
	event := a.event
	var err error
	if a.user, a.role, err = b.people.of(ctx, event.Sender); err != nil {
		return fmt.Errorf("who sent it could not be looked up: %w", err)
	}
	in := routing.Input{Event: event, BotName: event.BotName, Role: a.role, Policy: b.policy}
	if !event.Direct && !local(event.Surface.Platform) && b.policy.Access.Groups != routing.GroupsAnyone {
		yes, err := b.listed.ask(ctx, event.Surface.ChatKey())
		if err != nil {
			return fmt.Errorf("whether the group is allowed could not be looked up: %w", err)
		}
		in.Listed = yes
	}
	a.decision = routing.Decide(in)
	a.key = keyOf(event, a.session)
	if a.decision.ListChat {
		return b.listChat(ctx, event.Surface.ChatKey(), string(event.Sender.ID))
	}
	return nil
}

// keyOf is an event's dedupe key; empty: it has none. A platform's ids are its
// own for the whole account, but programs and pages that speak through the API
// may number what they say in each place anew.
func keyOf(event adapters.Event, session string) string {
	if event.ID == "" {
		return ""
	}
	key := "in:" + string(event.Surface.Platform) + ":" + event.Surface.Account + ":"
	if !local(event.Surface.Platform) {
		return key + event.ID
	}
	sum := sha256.Sum256([]byte(event.Surface.Key() + "\x00" + session + "\x00" + event.ID))
	return key + hex.EncodeToString(sum[:20])
}

func (b *Bot) listChat(ctx context.Context, chat, by string) error {
	if err := b.store.ListChat(ctx, chat, by); err != nil {
		return err
	}
	b.listed.remember(chat, true)
	b.log.Info("a group was allowed", "chat", chat, "by", by)
	return nil
}

// post stores a message and starts its turn, if it got one.
func (b *Bot) post(ctx context.Context, a arrival) (sessions.PostResult, error) {
	surface := a.event.Surface.Key()
	triggers := a.decision.Action == routing.ActionTurn
	request := sessions.PostRequest{
		Key: a.key, Surface: surface, Session: a.session,
		New: newSession(a.event, a.user.ID), Message: message(a), UserID: a.user.ID,
		Trigger: triggers, Rights: string(a.role), Alone: b.followup,
	}
	if !local(a.event.Surface.Platform) {
		request.Debounce = b.debounce
	}
	if triggers {
		request.Claim = b.claimer()
		request.Known = b.tails.knownOf(surface)
	}
	if err := b.resolve(ctx, a, request.New); err != nil {
		return sessions.PostResult{}, err
	}
	if err := ctx.Err(); err != nil {
		return sessions.PostResult{}, err
	}
	call, cancel := detached(ctx)
	defer cancel()
	result, err := b.store.Post(call, request)
	switch {
	case errors.Is(err, sessions.ErrQueueFull):
		return result, b.answer(ctx, a, a.key+":full", sessions.DedupeFor, textQueueFull)
	case isInvalid(err):
		b.log.Warn("a message could not be stored as it is; its sender is told", "surface", surface, "error", err)
		return result, b.answer(ctx, a, a.key+":invalid", sessions.DedupeFor, textTooLarge)
	case err != nil:
		return result, err
	}
	if result.Turn != nil {
		b.merge(call, a, &result.Turn.Record)
		b.startTurn(result.Turn)
	}
	if result.Outcome == sessions.PostLogged {
		b.heardIn(result.Session, request.Message.Group)
	}
	return result, nil
}

// merge brings what the platform says of the place, such as a group's new
// title, into the session that a message reopens. Best effort: the next message
// brings it again.
func (b *Bot) merge(ctx context.Context, a arrival, record *sessions.Record) {
	if len(record.Surfaces) > 0 && record.Surfaces[0] != a.event.Surface.Key() {
		return // of the places that have a conversation, the first one names it
	}
	changed := map[string]any{}
	for key, value := range metadata(a.event) {
		if record.Metadata[key] != value {
			changed[key] = value
		}
	}
	if len(changed) == 0 {
		return
	}
	record.Metadata = sessions.MergeMetadata(record.Metadata, changed)
	if _, err := b.store.Update(ctx, record.ID, sessions.Patch{Metadata: changed}); err != nil {
		b.log.Warn("what a place is called could not be stored", "session", record.ID, "error", err)
	}
}

// resolve gives a direct chat without a session the one that its person goes on
// with, if that is asked for. Chats that were seen lately have one. Places with
// a name have the session of that name.
func (b *Bot) resolve(ctx context.Context, a arrival, begin sessions.NewSession) error {
	if !b.affinity || !a.event.Direct || a.session != "" || local(a.event.Surface.Platform) || b.tails.seen(begin.Surface) {
		return nil
	}
	record, how, err := sessions.Resolve(ctx, b.store, sessions.ResolveRequest{New: begin, Affinity: sessions.NewestDirect(b.store)})
	if err == nil && how == sessions.ResolvedAffinity {
		b.log.Info("a chat goes on with its person's conversation", "surface", begin.Surface, "session", record.ID)
	}
	return err
}

func isInvalid(err error) bool {
	_, invalid := errors.AsType[*sessions.InvalidError](err)
	return invalid
}

// message is the event as the log keeps it: raw.
func message(a arrival) sessions.Message {
	event := a.event
	m := sessions.Message{
		Role: sessions.RoleUser, Text: event.Text,
		Sender:  &sessions.Sender{ID: string(event.Sender.ID), Name: event.Sender.Name, Role: string(a.role)},
		Surface: event.Surface.Key(), MessageID: event.MessageID, ReplyTo: event.ReplyTo,
		Group: !event.Direct, Directed: a.decision.Directed,
		Triggered: a.decision.Action == routing.ActionTurn, Decision: string(a.decision.Reason),
		SentAt: event.Time, Sequence: event.Sequence,
	}
	for _, file := range event.Attachments {
		m.Attachments = append(m.Attachments, sessions.Attachment(file))
	}
	return m
}

// answer says one line to whoever caused an event: through the outbox, or
// straight back on a local surface.
func (b *Bot) answer(ctx context.Context, a arrival, key string, keyFor time.Duration, text string) error {
	if local(a.event.Surface.Platform) {
		a.reply(text)
		return nil
	}
	return b.say(ctx, key, keyFor, a.event.Surface, text, a.event.MessageID)
}

// noticeKey makes a refusal rare: one per person in direct chats, one per chat
// and kind in groups. A refused command is answered each time it is given, and
// so is whatever a platform's own command brings: its sender sees "thinking"
// until an answer comes.
func (b *Bot) noticeKey(a arrival) string {
	if a.event.Command != nil {
		return a.key
	}
	switch a.decision.Notice {
	case routing.NoticeStranger:
		return "notice:stranger:" + string(a.event.Sender.ID)
	case routing.NoticeGroupNotListed:
		return "notice:unlisted:" + a.event.Surface.ChatKey()
	default:
		return a.key
	}
}

func (b *Bot) logDecision(ctx context.Context, a arrival, out taken, err error) {
	b.metrics.takenIn(a.event.Surface.Platform, a.decision.Reason, out.post.Outcome, err)
	level := levelOf(a.decision)
	if err != nil {
		level = slog.LevelError
	}
	if !b.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("surface", a.event.Surface.Key()), slog.String("kind", string(a.event.Kind)),
		slog.String("action", string(a.decision.Action)), slog.String("reason", string(a.decision.Reason)),
	}
	if out.post.Session != "" {
		attrs = append(attrs, slog.String("session", out.post.Session), slog.String("outcome", string(out.post.Outcome)))
	}
	if b.logText && !a.secret() {
		attrs = append(attrs, slog.String("text", a.event.Text))
	}
	message := "event"
	if err != nil {
		message = "an event could not be taken in; it is not acknowledged"
		attrs = append(attrs, slog.Any("error", err))
	}
	b.log.LogAttrs(ctx, level, message, attrs...)
}

// secret: what was written must not be kept anywhere.
func (a arrival) secret() bool {
	command, _ := routing.ParseCommand(a.event, a.event.BotName)
	return command != nil && command.Name == "link"
}

func levelOf(decision routing.Decision) slog.Level {
	if decision.Action == routing.ActionLog || decision.Action == routing.ActionDrop {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
