package bot

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"parley/adapters"
	"parley/routing"
	"parley/sessions"
)

// How many sessions a list shows: what fits a phone's screen.
const (
	sessionsShown = 8
	sessionsAll   = 20
)

// resumeDigits tells numbers from ids, which are longer or have letters.
const resumeDigits = 3

// commandConversation runs the commands that change which conversation a
// surface has, or what is in it.
func (b *Bot) commandConversation(ctx context.Context, a arrival) (sessions.PostResult, error) {
	act := map[string]func(context.Context, arrival, *memory) (done, error){
		"sessions": b.commandSessions, "resume": b.commandResume, "fork": b.commandFork,
		"name": b.commandName, "label": b.commandLabel, "branch": b.commandBranch, "clear": b.commandClear,
	}[a.decision.Command.Name]
	result, err := b.once(ctx, a, func(m *memory) (done, error) { return act(ctx, a, m) })
	if err != nil {
		return sessions.PostResult{}, err
	}
	return sessions.PostResult{Session: result.Session}, b.answer(ctx, a, a.key, sessions.DedupeFor, result.Answer)
}

// tell is the end of a command that was carried out or refused, look that of one
// that only looks.
func tell(text string) (done, error) { return done{Answer: text}, nil }
func look(text string) (done, error) { return done{Answer: text, looked: true}, nil }

// direct: nobody but the sender reads what is said on the event's surface.
func (a arrival) direct() bool { return a.event.Direct || local(a.event.Surface.Platform) }

// commandSessions lists the sender's own sessions, an owner's too; in a group
// only those that may be gone on with in a group.
func (b *Bot) commandSessions(ctx context.Context, a arrival, m *memory) (done, error) {
	all := a.decision.Command.Args == "all"
	return b.list(ctx, a, m, all, "")
}

func (b *Bot) list(ctx context.Context, a arrival, m *memory, all bool, heading string) (done, error) {
	page, err := b.mine(ctx, a, all)
	if err != nil {
		return done{}, err
	}
	current, err := b.currentID(ctx, a)
	if err != nil {
		return done{}, err
	}
	m.Lister, m.Listed = a.user.ID, nil
	for _, record := range page.Records {
		m.Listed = append(m.Listed, record.ID)
	}
	return look(heading + sessionsText(page, current, all, time.Now()))
}

func (b *Bot) mine(ctx context.Context, a arrival, all bool) (sessions.Page, error) {
	if a.user.ID == "" { // nobody's own would be everybody's
		return sessions.Page{}, nil
	}
	query := sessions.Query{Participant: a.user.ID, States: []sessions.State{sessions.StateCreated, sessions.StateActive}, Limit: sessionsShown}
	if all {
		query.States, query.Limit = nil, sessionsAll
	}
	if !a.direct() {
		query.Type = sessions.Group
	}
	return b.store.Find(ctx, query)
}

// currentID is the id of the session a command is about; empty: there is none.
func (b *Bot) currentID(ctx context.Context, a arrival) (string, error) {
	record, err := b.current(ctx, a)
	if errors.Is(err, sessions.ErrNotFound) {
		return "", nil
	}
	return record.ID, err
}

// commandResume makes another session this surface's. One that has ended is
// copied, and the copy goes on.
func (b *Bot) commandResume(ctx context.Context, a arrival, m *memory) (done, error) {
	arg := a.decision.Command.Args
	if arg == "" {
		return b.list(ctx, a, m, false, textResumeWhich)
	}
	record, err := b.named(ctx, a, m, arg)
	switch {
	case errors.Is(err, sessions.ErrNotFound), isInvalid(err):
		return tell(textNoSuchSession)
	case err != nil:
		return done{}, err
	}
	if record.State == sessions.StateExpired {
		return b.goOnWithCopy(ctx, a, record, record.Leaf)
	}
	return b.attach(ctx, a, record, func(previous string) string { return resumedText(record, previous, time.Now()) })
}

// named is the session that /resume means, if the sender may reach it. A
// number is one of the list he was shown last here.
func (b *Bot) named(ctx context.Context, a arrival, m *memory, arg string) (sessions.Record, error) {
	id := strings.Trim(arg, "`")
	if number, err := strconv.Atoi(arg); err == nil && len(arg) <= resumeDigits {
		if id, err = b.numbered(ctx, a, m, number); err != nil {
			return sessions.Record{}, err
		}
	}
	if err := sessions.CheckID(id); err != nil {
		return sessions.Record{}, err
	}
	record, err := b.store.Get(ctx, id)
	if err != nil {
		return record, err
	}
	return record, sessions.Reach(record, sessions.Caller{User: a.user, Owner: a.role == routing.Owner})
}

// numbered is the id behind a number.
func (b *Bot) numbered(ctx context.Context, a arrival, m *memory, number int) (string, error) {
	ids := m.Listed
	if m.Lister != a.user.ID || len(ids) == 0 {
		page, err := b.mine(ctx, a, false)
		if err != nil {
			return "", err
		}
		ids = nil
		for _, record := range page.Records {
			ids = append(ids, record.ID)
		}
	}
	if number < 1 || number > len(ids) {
		return "", sessions.ErrNotFound
	}
	return ids[number-1], nil
}

// attach makes a session this surface's and says so.
func (b *Bot) attach(ctx context.Context, a arrival, record sessions.Record, told func(previous string) string) (done, error) {
	_, previous, err := b.store.Attach(ctx, sessions.AttachRequest{
		Session: record.ID, Surface: a.event.Surface.Key(), Group: !a.direct(), Revive: true,
	})
	_, ended := errors.AsType[*sessions.StateError](err)
	switch {
	case errors.Is(err, sessions.ErrGroup):
		return tell(textDirectInGroup)
	case ended, errors.Is(err, sessions.ErrNotFound):
		return tell(textNoSuchSession)
	case err != nil:
		return done{}, err
	}
	b.tails.moved(a.event.Surface.Key(), record.ID)
	return done{Answer: told(previous), Session: record.ID}, nil
}

// platformsOf are the words for where a session is held.
func platformsOf(record sessions.Record) string {
	words := []string{platformWord(record.Source.Platform)}
	for _, key := range record.Surfaces {
		platform, _, _ := strings.Cut(key, ":")
		words = append(words, platformWord(platform))
	}
	return strings.Join(compactWords(words), ", ")
}

func platformWord(platform string) string {
	switch adapters.Platform(platform) {
	case adapters.Telegram:
		return "Telegram"
	case adapters.Discord:
		return "Discord"
	case adapters.Slack:
		return "Slack"
	case adapters.Web:
		return "chat page"
	case adapters.CLI:
		return "terminal"
	case adapters.Schedule:
		return "schedule"
	default:
		return platform
	}
}

// compactWords drops empty words and those that were there already.
func compactWords(words []string) []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, word := range words {
		if !seen[word] {
			seen[word] = true
			out = append(out, word)
		}
	}
	return out
}
