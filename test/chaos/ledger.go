package main

import (
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// said is one numbered message of a person.
type said struct {
	number   int
	chat     *chat
	at       time.Time
	triggers bool // asks for an answer; otherwise it is only to be logged
	special  bool // not to be counted: it hangs, or is poison
}

// prompt is one call of the model: the numbers it is to answer.
type prompt struct {
	life    string
	at      time.Time
	numbers []int
}

// try is one request that sends a text to a chat.
type try struct {
	life     string
	surface  string
	text     string
	at       time.Time
	answered time.Time // zero: the sender has not got the answer
	status   int
}

// span is a time in which something was disrupted; of one life, or of all.
type span struct {
	what     string
	life     string // empty: all
	from, to time.Time
}

// ledger is what the driver saw. Its methods may be called from any goroutine.
type ledger struct {
	mu          sync.Mutex
	last        int
	said        []*said
	prompts     []prompt
	tries       []*try
	disruptions []span
	stalls      []span
	triggers    int          // of said, that ask for an answer
	answered    map[int]bool // numbers in messages that a platform took
	problems    []string     // that are violations by themselves
}

// next numbers a message. It is called in the order of its chat.
func (l *ledger) next(c *chat, triggers, special bool) *said {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	s := &said{number: l.last, chat: c, at: time.Now(), triggers: triggers, special: special}
	l.said = append(l.said, s)
	if triggers && !special {
		l.triggers++
	}
	return s
}

func (l *ledger) asked(life string, numbers []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prompts = append(l.prompts, prompt{life: life, at: time.Now(), numbers: numbers})
}

func (l *ledger) sending(life, surface, text string) *try {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &try{life: life, surface: surface, text: text, at: time.Now()}
	l.tries = append(l.tries, t)
	return t
}

// sent ends a try; delivered: the sender got the answer.
func (l *ledger) sent(t *try, status int, delivered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.status = status
	if status == statusTaken {
		if l.answered == nil {
			l.answered = map[int]bool{}
		}
		for _, n := range numbersIn(t.text) {
			l.answered[n] = true
		}
	}
	if delivered {
		t.answered = time.Now()
	}
}

// unanswered is about how many messages wait for an answer: one that a platform
// was found to have already is not seen here.
func (l *ledger) unanswered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.triggers - len(l.answered)
}

func (l *ledger) disrupted(s span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.disruptions = append(l.disruptions, s)
}

func (l *ledger) stalled(s span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stalls = append(l.stalls, s)
}

func (l *ledger) problem(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, text)
}

// delays are the times from saying to showing, sorted, of what was said in a
// time and in one of these chats.
func (l *ledger) delays(from, to time.Time, in []*chat) []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	shown := map[int]time.Time{}
	for _, t := range l.tries {
		for _, n := range numbersIn(t.text) {
			if at, seen := shown[n]; t.status == statusTaken && (!seen || t.at.Before(at)) {
				shown[n] = t.at
			}
		}
	}
	var out []time.Duration
	for _, s := range l.said {
		at, ok := shown[s.number]
		if ok && s.at.After(from) && s.at.Before(to) && slices.Contains(in, s.chat) {
			out = append(out, at.Sub(s.at))
		}
	}
	slices.Sort(out)
	return out
}

// percentile of sorted times; 0 of none.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}

// statusTaken is the status with which platforms take a message.
const statusTaken = 200

// mark is how a number stands in a text: m12 asks for an answer, u12 does not.
var mark = regexp.MustCompile(`\b[mu](\d+)\b`)

var asking = regexp.MustCompile(`\bm(\d+)\b`)

// numbersIn are the numbers in a text that ask for an answer or are answered.
func numbersIn(text string) []int { return find(asking, text) }

// marksIn are all numbers in a text.
func marksIn(text string) []int { return find(mark, text) }

func find(pattern *regexp.Regexp, text string) []int {
	var out []int
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(match[1])
		if err == nil {
			out = append(out, n)
		}
	}
	return out
}
