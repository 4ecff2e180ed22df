package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/adapters"
	"parley/cmd/gateway/client"
	"parley/internal/secret"
	"parley/sessions"
)

// apiName is the platform whose people are programs that use the gateways' HTTP
// API, through any gateway that answers.
const apiName = "api"

// How programs talk.
const (
	programEvery = 100 * time.Millisecond // between two looks
	programCall  = 5 * time.Second        // bounds one request
	programReads = 100                    // entries in one look
	programLooks = 25                     // after so many messages that were said without one
)

// placeFile is where a running gateway says where it listens.
const placeFile = "gateway.json"

// newAPI makes so many programs. folders are the gateways' data folders, in
// which a running gateway says where it listens.
func newAPI(chats int, l *ledger, folders []string) *platform {
	ctx, cancel := context.WithCancel(context.Background())
	p := &platform{
		name: apiName, resolves: true, violations: func() []string { return nil },
		environment: func(string) map[string]string { return nil },
	}
	programs := map[*chat]*outsider{}
	var talking sync.WaitGroup
	for i := range chats {
		name := "program" + itoa(i)
		c := &chat{platform: p, surface: adapters.Surface{Platform: adapters.API, Account: adapters.Local, Chat: name}.Key()}
		one := &outsider{ledger: l, surface: c.surface, session: apiName + ":" + name, folders: folders, read: map[string]bool{}}
		c.post = one.later
		programs[c], p.chats = one, append(p.chats, c)
		talking.Go(func() { one.run(ctx) })
	}
	p.shown = func(c *chat) []string { return programs[c].seen() }
	p.acknowledged = func(ctx context.Context) error {
		for _, c := range p.chats {
			for programs[c].waits() {
				if err := pause(ctx, programEvery/10); err != nil {
					return err
				}
			}
		}
		return nil
	}
	p.close = func() {
		cancel()
		talking.Wait()
	}
	return p
}

// outsider is a program that says one thing after another in one session, each
// again and again under the same key until a gateway has acknowledged it, and
// reads the answers in the log.
type outsider struct {
	ledger  *ledger
	surface string
	session string
	folders []string

	mu     sync.Mutex
	queue  []string // not acknowledged
	shown  []string // answers, by seq
	said   int      // messages in all
	broken bool     // it was refused for good

	// Used by run alone.
	read map[string]bool // texts of shown
	told int             // numbers in them
}

func (p *outsider) later(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, text)
	p.said++
}

func (p *outsider) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clip(p.shown)
}

func (p *outsider) waits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue) > 0 && !p.broken
}

// run talks until ctx ends.
func (p *outsider) run(ctx context.Context) {
	for pause(ctx, programEvery) == nil {
		gateway, err := p.connect()
		if err != nil {
			continue // none runs there now
		}
		if err = p.speak(ctx, gateway); err == nil && p.told < p.saidSoFar() {
			_ = p.look(ctx, gateway) // what is not seen now is seen at the next look
		}
		gateway.Close()
	}
}

func (p *outsider) saidSoFar() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said
}

// connect makes a client of one of the gateways, drawn by lot.
func (p *outsider) connect() (*client.Client, error) {
	content, err := os.ReadFile(filepath.Join(p.folders[rand.IntN(len(p.folders))], placeFile))
	if err != nil {
		return nil, err
	}
	var at struct{ Address, Token string }
	if err := json.Unmarshal(content, &at); err != nil {
		return nil, err
	}
	return client.New(at.Address, secret.New(at.Token))
}

// speak says what waits, in order.
func (p *outsider) speak(ctx context.Context, gateway *client.Client) error {
	for n := 1; p.waits(); n++ {
		if n%programLooks == 0 {
			_ = p.look(ctx, gateway) // before what was answered is out of sight
		}
		p.mu.Lock()
		text := p.queue[0]
		p.mu.Unlock()
		call, cancel := context.WithTimeout(ctx, programCall)
		said, err := gateway.Say(call, p.session, text, strings.ReplaceAll(text, " ", "-"), client.Sender{}) // no text is said twice
		cancel()
		if err == nil && said.Session != p.session {
			err = errStranger
		}
		if err != nil {
			p.refused(err)
			return err
		}
		p.mu.Lock()
		p.queue = p.queue[1:]
		p.mu.Unlock()
	}
	return nil
}

// errStranger: the port of a gateway that died is another process's now.
var errStranger = errors.New("it was not the gateway that answered")

// refused notes a refusal that no retry mends, and ends the program's talk. A
// gateway says with a code why it refuses; without one, it is another process
// that has the port of one that died.
func (p *outsider) refused(err error) {
	final := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	refusal, ok := errors.AsType[*client.RefusedError](err)
	if !ok || refusal.Code == "" || !slices.Contains(final, refusal.Status) {
		return
	}
	p.mu.Lock()
	p.broken = true
	p.mu.Unlock()
	p.ledger.problem(fmt.Sprintf("%s was refused: %d %v", p.session, refusal.Status, err))
}

// look takes in the answers that have come since the last look. They are known
// by what they say: what was read before a failover may be gone after it, and
// its seq another answer's.
func (p *outsider) look(ctx context.Context, gateway *client.Client) error {
	call, cancel := context.WithTimeout(ctx, programCall)
	defer cancel()
	entries, _, err := gateway.Recent(call, p.session, programReads)
	if err != nil {
		return err
	}
	for _, view := range entries {
		entry := sessions.Entry{Type: view.Type, Payload: view.Payload}
		if m, err := entry.Message(); err == nil && m.Role == sessions.RoleAssistant && !m.Partial && !p.read[m.Text] {
			p.read[m.Text] = true
			p.take(m.Text)
		}
	}
	return nil
}

// take notes one answer, as a platform's send would be.
func (p *outsider) take(text string) {
	p.ledger.sent(p.ledger.sending("", p.surface, text), statusTaken, true)
	p.told += len(numbersIn(text))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = append(p.shown, text)
}
