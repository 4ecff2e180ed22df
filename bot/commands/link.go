package commands

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"parley/bot/texts"
	"parley/routing"
	"parley/sessions"
)

// confirmChars is how long the word is with which an owner confirms: 30 bits,
// of which five guesses in ten minutes are allowed.
const confirmChars = 6

// link makes identities on several platforms one person: without a code it
// gives one, with one it redeems it. A code goes to nobody but the person alone
// with the bot, and into no log.
//
// Whoever redeems a code becomes one with whoever asked for it, rights and all.
// So only known people may ask for one, and an owner is asked back: the bot
// answers with a word that nobody else can know, and only the code together
// with that word is redeemed. What somebody else made an owner send is not
// enough.
func (c *Commands) link(ctx context.Context, call Call) (Answer, error) {
	args := strings.Fields(call.Command.Args)
	switch {
	case !call.Alone():
		return say(texts.LinkAlone)
	case len(args) > 0:
		return c.redeem(ctx, call, args)
	case call.Role.Rank() < routing.Member.Rank():
		return say(texts.LinkStranger)
	}
	code, err := c.offer(ctx, call)
	// A second code makes the first one void, so people must hear of it.
	return Answer{Text: texts.LinkCode(code), Fresh: ending(code)}, err
}

// offer gives a code, for an event that comes again the same.
func (c *Commands) offer(ctx context.Context, call Call) (string, error) {
	if code, found := c.links.offered(call.Key, time.Now()); found {
		return code, nil
	}
	code, err := c.Store.OfferLink(ctx, string(call.Event.Sender.ID))
	if err == nil {
		c.links.keep(call.Key, code, time.Now())
	}
	return code, err
}

// redeem makes the sender one with whoever was given the code.
func (c *Commands) redeem(ctx context.Context, call Call, args []string) (Answer, error) {
	identity, code := string(call.Event.Sender.ID), args[0]
	if c.links.slow(identity, time.Now()) {
		return say(texts.LinkSlow)
	}
	if sessions.CheckCode(code) != nil {
		return c.wrongCode(call)
	}
	if call.Role == routing.Owner {
		word := call.memory.confirms(identity, code, time.Now())
		switch {
		case len(args) == 1:
			return say(texts.LinkOwner(code, word))
		case subtle.ConstantTimeCompare([]byte(strings.ToLower(args[1])), []byte(word)) == 0:
			return c.wrongCode(call)
		}
		call.memory.Salt, call.memory.changed = "", true
	}
	user, _, err := c.Store.TakeLink(ctx, code, identity)
	_, invalid := errors.AsType[*sessions.InvalidError](err)
	switch {
	case errors.Is(err, sessions.ErrNotFound), invalid:
		return c.wrongCode(call)
	case errors.Is(err, sessions.ErrConflict):
		return Answer{Text: texts.LinkSame, code: linkSame}, nil
	case err != nil:
		return Answer{}, err
	}
	c.Linked(append(user.Identities, identity, user.ID)...)
	c.Log.Info("two people turned out to be one", "user", user.ID, "identities", len(user.Identities))
	return Answer{Text: texts.Linked(user), code: linked}, nil
}

func (c *Commands) wrongCode(call Call) (Answer, error) {
	c.links.wrong(string(call.Event.Sender.ID), time.Now())
	return Answer{Text: texts.LinkWrong, code: linkWrong}, nil
}

// confirms is the word with which an identity confirms that it means a code.
// It is the same while the salt is good, so that a question that is delivered
// again asks for the same. Neither the word nor the code is kept.
func (m *memory) confirms(identity, code string, now time.Time) string {
	if m.Salt == "" || now.Sub(m.Salted) >= sessions.LinkFor {
		m.Salt, m.Salted, m.changed = rand.Text(), now.UTC(), true
	}
	sum := sha256.Sum256([]byte(m.Salt + "\x00" + identity + "\x00" + code))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:confirmChars]
}

// ending tells the answers with two codes apart.
func ending(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:8])
}
