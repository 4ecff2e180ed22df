package main

import (
	"testing"
	"time"
)

// scene builds evidence of one chat: two answered messages, and what a case
// changes of it.
func scene(change func(e *evidence, c *chat)) evidence {
	c := &chat{surface: "somewhere", platform: &platform{}}
	at := time.Unix(1000, 0)
	e := evidence{
		said:    []*said{{number: 1, chat: c, triggers: true}, {number: 2, chat: c, triggers: true}, {number: 3, chat: c}},
		prompts: []prompt{{life: "a1", numbers: []int{1}}, {life: "a1", numbers: []int{2}}},
		tries: []*try{
			{life: "a1", surface: "somewhere", text: "re m1", at: at, answered: at, status: statusTaken},
			{life: "a1", surface: "somewhere", text: "re m2", at: at, answered: at, status: statusTaken},
		},
		shown: map[*chat][]string{c: {"re m1", "re m2"}},
		logs:  map[*chat]stored{c: {said: []int{1, 2, 3}, answers: [][]int{{1}, {2}}}},
	}
	change(&e, c)
	return e
}

func TestTheOracleFindsWhatMustNotBe(t *testing.T) {
	t.Parallel()
	at := time.Unix(1000, 0)
	for name, test := range map[string]struct {
		change func(e *evidence, c *chat)
		want   counts
	}{
		"all is well":               {func(*evidence, *chat) {}, counts{Messages: 3}},
		"never stored":              {func(e *evidence, c *chat) { e.logs[c] = stored{said: []int{1, 2}, answers: [][]int{{1}, {2}}} }, counts{Messages: 3, Lost: 1}},
		"never shown":               {func(e *evidence, c *chat) { e.shown[c] = []string{"re m1"} }, counts{Messages: 3, Lost: 1}},
		"stored twice":              {func(e *evidence, c *chat) { e.logs[c] = stored{said: []int{1, 2, 2, 3}, answers: [][]int{{1}, {2}}} }, counts{Messages: 3, Turns: 1}},
		"answered by two turns":     {func(e *evidence, c *chat) { e.logs[c] = stored{said: []int{1, 2, 3}, answers: [][]int{{1}, {2}, {1}}} }, counts{Messages: 3, Turns: 1}},
		"shown without a turn":      {func(e *evidence, c *chat) { e.logs[c] = stored{said: []int{1, 2, 3}, answers: [][]int{{1}}} }, counts{Messages: 3, Turns: 1}},
		"asked again, alone":        {func(e *evidence, _ *chat) { e.prompts = append(e.prompts, prompt{numbers: []int{2}}) }, counts{Messages: 3, Again: 1}},
		"asked again, with another": {func(e *evidence, _ *chat) { e.prompts = append(e.prompts, prompt{numbers: []int{1, 2}}) }, counts{Messages: 3, Turns: 2}},
		"shown in the wrong order":  {func(e *evidence, c *chat) { e.shown[c] = []string{"re m2", "re m1"} }, counts{Messages: 3, Disordered: 1}},
		"stored in the wrong order": {func(e *evidence, c *chat) { e.logs[c] = stored{said: []int{2, 1, 3}, answers: [][]int{{1}, {2}}} }, counts{Messages: 3, Disordered: 1}},
		"shown twice":               {func(e *evidence, c *chat) { e.shown[c] = []string{"re m1", "re m1", "re m2"} }, counts{Messages: 3, Replies: 1}},
		"shown twice, for a kill": {func(e *evidence, c *chat) {
			e.shown[c] = []string{"re m1", "re m1", "re m2"}
			e.disruptions = []span{{what: "killed", life: "a1", from: at, to: at.Add(receiptWithin)}}
		}, counts{Messages: 3, Replies: 1, Explained: 1}},
		"shown twice, for a kill, where that could have been found out": {func(e *evidence, c *chat) {
			c.platform.resolves = true
			e.shown[c] = []string{"re m1", "re m1", "re m2"}
			e.disruptions = []span{{what: "killed", life: "a1", from: at, to: at.Add(receiptWithin)}}
		}, counts{Messages: 3, Replies: 1}},
		"shown twice, for a stop just before it was sent": {func(e *evidence, c *chat) {
			e.shown[c] = []string{"re m1", "re m1", "re m2"}
			e.disruptions = []span{{what: "stopped", life: "a1", from: at.Add(-time.Minute), to: at.Add(-writtenWithin / 2)}}
		}, counts{Messages: 3, Replies: 1, Explained: 1}},
		"shown twice, for a stop long before": {func(e *evidence, c *chat) {
			e.shown[c] = []string{"re m1", "re m1", "re m2"}
			e.disruptions = []span{{what: "stopped", life: "a1", from: at.Add(-time.Minute), to: at.Add(-2 * writtenWithin)}}
		}, counts{Messages: 3, Replies: 1}},
		"shown twice, while the machine stood still for longer than a lane is held": {func(e *evidence, c *chat) {
			e.shown[c], e.lease = []string{"re m1", "re m1", "re m2"}, time.Second
			e.stalls = []span{{what: "the machine stood still", from: at, to: at.Add(time.Second)}}
		}, counts{Messages: 3, Replies: 1, Explained: 1}},
		"shown twice, while the machine stood still for a moment": {func(e *evidence, c *chat) {
			e.shown[c], e.lease = []string{"re m1", "re m1", "re m2"}, time.Second
			e.stalls = []span{{what: "the machine stood still", from: at, to: at.Add(time.Second / 4)}}
		}, counts{Messages: 3, Replies: 1}},
		"shown twice, for an answer that came too late": {func(e *evidence, c *chat) {
			e.shown[c], e.lease = []string{"re m1", "re m1", "re m2"}, time.Second
			e.late = []late{{life: "a1", surface: c.surface, at: at.Add(time.Second / 3)}}
		}, counts{Messages: 3, Replies: 1, Explained: 1}},
		"shown twice, for an answer that came too late, where that is looked up": {func(e *evidence, c *chat) {
			c.platform.resolves, c.platform.looksUp = true, true
			e.shown[c], e.lease = []string{"re m1", "re m1", "re m2"}, time.Second
			e.late = []late{{life: "a1", surface: c.surface, at: at.Add(time.Second / 3)}}
		}, counts{Messages: 3, Replies: 1, Explained: 1}},
		"asked with another that was given up": {func(e *evidence, _ *chat) {
			e.given = map[int]bool{1: true}
			e.prompts = append(e.prompts, prompt{numbers: []int{1, 2}})
		}, counts{Messages: 3, Again: 1}},
		"shown twice, for another chat's answer": {func(e *evidence, c *chat) {
			e.shown[c], e.lease = []string{"re m1", "re m1", "re m2"}, time.Second
			e.late = []late{{life: "a1", surface: "another", at: at.Add(time.Second / 3)}}
		}, counts{Messages: 3, Replies: 1}},
		"shown twice, for a kill much later": {func(e *evidence, c *chat) {
			e.shown[c] = []string{"re m1", "re m1", "re m2"}
			e.disruptions = []span{{what: "killed", life: "a1", from: at.Add(2 * receiptWithin), to: at.Add(2 * receiptWithin)}}
		}, counts{Messages: 3, Replies: 1}},
		"shown twice, for another's kill": {func(e *evidence, c *chat) {
			e.shown[c] = []string{"re m1", "re m1", "re m2"}
			e.disruptions = []span{{what: "killed", life: "b1", from: at, to: at}}
		}, counts{Messages: 3, Replies: 1}},
		"shown three times, for one lost answer": {func(e *evidence, c *chat) {
			e.shown[c] = []string{"re m1", "re m1", "re m1", "re m2"}
			e.tries[0].answered = time.Time{}
		}, counts{Messages: 3, Replies: 2, Explained: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := judge(scene(test.change))
			got.details, got.explanations = nil, nil
			if !same(got, test.want) {
				t.Errorf("found %+v, want %+v", got, test.want)
			}
		})
	}
}

func same(a, b counts) bool {
	return a.Messages == b.Messages && a.Lost == b.Lost && a.Turns == b.Turns && a.Replies == b.Replies &&
		a.Explained == b.Explained && a.Disordered == b.Disordered && a.Again == b.Again
}
