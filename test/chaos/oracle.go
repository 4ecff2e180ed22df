package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// receiptWithin is how long after the platform's answer a receipt may still be
// on its way to the store. A disruption later than that explains nothing.
const receiptWithin = time.Second

// writtenWithin is how long before its arrival a request was begun: whoever is
// stopped in between writes it when they go on, and has given it up by then.
const writtenWithin = 200 * time.Millisecond

// stored is what the log of a chat's session holds.
type stored struct {
	said    []int   // numbers in people's messages, by seq
	answers [][]int // numbers in each committed answer, by seq

	receipts []string // for people to read
}

// evidence is all that an oracle looks at.
type evidence struct {
	said        []*said
	prompts     []prompt
	tries       []*try
	disruptions []span
	stalls      []span             // of the whole machine
	late        []late             // sends whose answer came too late
	given       map[int]bool       // messages whose turn was rightly given up after three attempts
	lease       time.Duration      // how long a lane is held
	shown       map[*chat][]string // what people see of the bot, in order
	logs        map[*chat]stored
}

// counts are what an oracle found.
type counts struct {
	Messages   int `json:"messages"`
	Lost       int `json:"lost"`              // never stored, or asked for an answer and never shown one
	Turns      int `json:"duplicate_turns"`   // stored or answered more than once by committed turns, or in a shown answer that no turn committed
	Replies    int `json:"duplicate_replies"` // shown copies beyond the first
	Explained  int `json:"explained"`         // of these: a disruption lay between the sending and its receipt
	Disordered int `json:"out_of_order"`      // stored or shown after a later one of the same chat
	Again      int `json:"prompts_again"`     // prompts beyond a message's first one; allowed where the turn before did not end

	details      []string // of what must not be
	explanations []string // of what may be
}

const detailsMax = 20

func (c *counts) note(format string, args ...any) {
	if len(c.details) < detailsMax {
		c.details = append(c.details, fmt.Sprintf(format, args...))
	}
}

// judge counts. Pure.
func judge(e evidence) counts {
	var c counts
	e.judgeMessages(&c)
	e.judgePrompts(&c)
	for chat, texts := range e.shown {
		e.judgeShown(&c, chat, texts)
	}
	for chat, log := range e.logs {
		e.judgeLog(&c, chat, log)
	}
	return c
}

func (e evidence) judgeMessages(c *counts) {
	shown, kept, answered := map[int]int{}, map[int]int{}, map[int]int{}
	for _, texts := range e.shown {
		for _, text := range texts {
			count(shown, numbersIn(text))
		}
	}
	for _, log := range e.logs {
		count(kept, log.said)
		for _, answer := range log.answers {
			count(answered, answer)
		}
	}
	for _, s := range e.said {
		if s.special {
			continue
		}
		c.Messages++
		switch {
		case kept[s.number] == 0:
			c.Lost++
			c.note("message %d in %s was never stored", s.number, s.chat.surface)
		case s.triggers && shown[s.number] == 0 && !e.given[s.number]:
			c.Lost++
			c.note("message %d in %s was stored and never answered (committed turns: %d)", s.number, s.chat.surface, answered[s.number])
		}
		if kept[s.number] > 1 || answered[s.number] > 1 || shown[s.number] > 0 && answered[s.number] == 0 {
			c.Turns++
			c.note("message %d in %s: stored %d times, answered by %d committed turns, shown %d times", s.number, s.chat.surface, kept[s.number], answered[s.number], shown[s.number])
		}
	}
}

func count(into map[int]int, numbers []int) {
	for _, n := range numbers {
		into[n]++
	}
}

// judgePrompts: a message that is asked about again is asked about together
// with the same others, because the turn stays what it was.
func (e evidence) judgePrompts(c *counts) {
	first := map[int][]int{}
	for _, p := range e.prompts {
		// What was given up stays before what was said later.
		numbers := slices.DeleteFunc(slices.Clone(p.numbers), func(n int) bool { return e.given[n] })
		for _, n := range numbers {
			before, seen := first[n]
			switch {
			case !seen:
				first[n] = numbers
			case slices.Equal(before, numbers):
				c.Again++
			default:
				c.Turns++
				c.note("message %d was asked about together with %v, and by %s with %v", n, before, p.life, numbers)
			}
		}
	}
}

func (e evidence) judgeShown(c *counts, chat *chat, texts []string) {
	copies := map[string]int{}
	newest, before := 0, ""
	for _, text := range texts {
		numbers := numbersIn(text)
		if len(numbers) == 0 {
			continue
		}
		copies[text]++
		if text == before {
			continue
		}
		before = text
		for _, n := range numbers {
			if n <= newest {
				c.Disordered++
				c.note("%s was shown %d after %d", chat.surface, n, newest)
			}
			newest = max(newest, n)
		}
	}
	for text, n := range copies {
		if n > 1 {
			c.Replies += n - 1
			explained := 0
			switch {
			case !chat.platform.resolves:
				explained = min(n-1, e.explained(chat.surface, text))
			case chat.platform.looksUp:
				explained = min(n-1, e.overtaken(chat.surface, text))
			}
			c.Explained += explained
			history := fmt.Sprintf("%s was shown %q %d times: %s", chat.surface, text, n, e.history(chat.surface, text))
			if explained < n-1 {
				c.note("%s", history)
			} else if len(c.explanations) < detailsMax {
				c.explanations = append(c.explanations, history)
			}
		}
	}
}

// explained is how many tries of a text had their receipt disrupted.
func (e evidence) explained(surface, text string) int {
	out := 0
	for _, t := range e.tries {
		if t.surface == surface && t.text == text && e.why(t) != "" {
			out++
		}
	}
	return out
}

// overtaken is how many tries of a text were given up by a sender who lived on,
// and may have been carried out after the platform was asked about them.
func (e evidence) overtaken(surface, text string) int {
	out := 0
	for _, t := range e.tries {
		if t.surface == surface && t.text == text && e.waitedInVain(t) != "" {
			out++
		}
	}
	return out
}

// waitedInVain is when the sender of a try gave it up for want of an answer.
func (e evidence) waitedInVain(t *try) string {
	for _, l := range e.late {
		// A send takes at most a third of a lease.
		if l.life == t.life && l.surface == t.surface && !l.at.Before(t.at) && l.at.Before(t.at.Add(e.lease/3+receiptWithin)) {
			return "its sender had waited in vain until " + l.at.Format(clock)
		}
	}
	return ""
}

const clock = "15:04:05.000"

// end is how a try ended.
func (t *try) end() string {
	if t.answered.IsZero() {
		return "without an answer"
	}
	return fmt.Sprintf("answered %d after %s", t.status, t.answered.Sub(t.at).Round(time.Millisecond))
}

// why is what disrupted a try between its sending and its receipt.
func (e evidence) why(t *try) string {
	until := t.at.Add(receiptWithin)
	if !t.answered.IsZero() {
		until = t.answered.Add(receiptWithin)
	}
	for _, s := range e.stalls {
		if s.from.After(until) || s.to.Before(t.at) {
			continue
		}
		if until = until.Add(s.to.Sub(s.from)); s.to.Sub(s.from) >= e.lease/2 {
			return fmt.Sprintf("%s for %s", s.what, s.to.Sub(s.from).Round(time.Millisecond))
		}
	}
	for _, d := range e.disruptions {
		if (d.life == "" || d.life == t.life) && !d.from.After(until) && !d.to.Before(t.at.Add(-writtenWithin)) {
			return fmt.Sprintf("%s at %s", d.what, d.to.Format(clock))
		}
	}
	if t.answered.IsZero() {
		return "the answer did not arrive"
	}
	return e.waitedInVain(t)
}

func (e evidence) history(surface, text string) string {
	var out strings.Builder
	for _, t := range e.tries {
		if t.surface == surface && t.text == text {
			fmt.Fprintf(&out, "[by %s at %s, %s, %s] ", t.life, t.at.Format(clock), t.end(), cmp.Or(e.why(t), "nothing disrupted it"))
		}
	}
	return out.String()
}

func (evidence) judgeLog(c *counts, chat *chat, log stored) {
	newest := 0
	for _, n := range log.said {
		if n < newest {
			c.Disordered++
			c.note("%s stored %d after %d", chat.surface, n, newest)
		}
		newest = max(newest, n)
	}
}
