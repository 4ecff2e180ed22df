package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parley/sessions"
)

func userTests() []test {
	return []test{
		{"one whom the store does not know is alone and has no role", userUnknown},
		{"a role is the user's until it is taken back", userRole},
		{"a link makes two identities one user", userLink},
		{"who has several identities brings all of them", userLinkAll},
		{"a role that the joining user had is gone", userLinkRoles},
		{"merging two users rewrites participants too", userMergeParticipants},
		{"merging rewrites a session that is over, and one that runs", userMergeAnyState},
		{"merging two who spoke in one session leaves one participant", userMergeBoth},
		{"merging rewrites every session however many there are", userMergeMany},
		{"merging while sessions get messages rewrites all", userMergeWhilePosting},
		{"a code is good once", userCodeOnce},
		{"a code is good for its time", userCodeTime},
		{"a newer code voids the older", userCodeNewer},
		{"a code for oneself conflicts and stays good", userCodeSelf},
		{"a code nobody gave is not found", userCodeUnknown},
		{"codes are hard to guess", userCodes},
		{"of two who take one code at the same time one joins", userCodeTogether},
		{"two who take each other's code at the same time are one", userCross},
		{"users are listed by id, in pages", userLists},
		{"identities are told apart to the letter", userLiterally},
		{"what cannot be an identity or a code is refused", userLimits},
		{"a change of who somebody is is hinted", userHints},
		{"users survive a restart", userSurvives},
	}
}

func (tr *trial) who(identity string) sessions.User {
	tr.Helper()
	user := must(tr.store.Who(tr.ctx, identity))(tr)
	tr.check(user.ID != "" && len(user.Identities) > 0 && user.Identities[0] == user.ID && user.Is(identity), "%s is %+v", identity, user)
	return user
}

// wantUser expects all identities, the first one the user's id, to be one user.
func (tr *trial) wantUser(role string, identities ...string) {
	tr.Helper()
	for _, identity := range identities {
		user := tr.who(identity)
		equalSlices(tr, "identities of "+identity, user.Identities, identities)
		equal(tr, "role of "+identity, user.Role, role)
	}
}

func (tr *trial) role(identity, role string) {
	tr.Helper()
	user := must(tr.store.SetRole(tr.ctx, identity, role))(tr)
	tr.check(user.Role == role && user.Is(identity), "%s is %+v", identity, user)
}

func (tr *trial) offer(identity string) string {
	tr.Helper()
	code := must(tr.store.OfferLink(tr.ctx, identity))(tr)
	tr.do(sessions.CheckCode(code))
	return code
}

// link makes identity one with the user of to, and returns its former user.
func (tr *trial) link(to, identity string) string {
	tr.Helper()
	return tr.takeLink(tr.offer(to), identity)
}

func (tr *trial) takeLink(code, identity string) string {
	tr.Helper()
	user, merged, err := tr.store.TakeLink(tr.ctx, code, identity)
	must(user, err)(tr)
	tr.check(user.Is(identity), "%s joined %+v", identity, user)
	equalSlices(tr, "the joined user's identities", user.Identities, tr.who(identity).Identities)
	return merged
}

func (tr *trial) cannotLink(code, identity string, want error) {
	tr.Helper()
	_, _, err := tr.store.TakeLink(tr.ctx, code, identity)
	tr.wantErr(err, want)
}

func (tr *trial) users(limit int) (ids []string) {
	tr.Helper()
	for after := ""; ; {
		page := must(tr.store.ListUsers(tr.ctx, after, limit))(tr)
		tr.check(len(page) <= limit, "%d users, limit %d", len(page), limit)
		for _, u := range page {
			tr.check(u.ID > after, "%s follows %s", u.ID, after)
			after = u.ID
			ids = append(ids, u.ID)
		}
		if len(page) < limit {
			return slices.Concat([]string{}, ids)
		}
	}
}

func userUnknown(tr *trial) {
	tr.wantUser("", "telegram:1")
	equal(tr, "users", len(tr.users(10)), 0)
}

func userRole(tr *trial) {
	tr.role("telegram:1", "member")
	tr.wantUser("member", "telegram:1")
	tr.wantUser("", "telegram:2")
	tr.role("telegram:1", "owner")
	tr.wantUser("owner", "telegram:1")
	equalSlices(tr, "users", tr.users(10), []string{"telegram:1"})
	tr.link("telegram:1", "slack:U1")
	tr.role("slack:U1", "guest")
	tr.wantUser("guest", "telegram:1", "slack:U1")
	tr.role("slack:U1", "")
	tr.wantUser("", "telegram:1", "slack:U1")
	tr.role("telegram:3", "blocked")
	tr.role("telegram:3", "")
	tr.wantUser("", "telegram:3")
	equalSlices(tr, "users", tr.users(10), []string{"telegram:1"})
}

func userLink(tr *trial) {
	code := tr.offer("telegram:1")
	user, merged, err := tr.store.TakeLink(tr.ctx, code, "slack:U1")
	must(user, err)(tr)
	equal(tr, "merged", merged, "slack:U1")
	equal(tr, "user", user.ID, "telegram:1")
	tr.wantUser("", "telegram:1", "slack:U1")
	equalSlices(tr, "users", tr.users(10), []string{"telegram:1"})
	equal(tr, "merged", tr.link("slack:U1", "discord:9"), "discord:9")
	tr.wantUser("", "telegram:1", "slack:U1", "discord:9")
}

func userLinkAll(tr *trial) {
	tr.link("telegram:1", "telegram:2")
	tr.link("slack:U1", "slack:U2")
	tr.link("slack:U1", "slack:U3")
	equal(tr, "merged", tr.link("telegram:2", "slack:U2"), "slack:U1")
	tr.wantUser("", "telegram:1", "telegram:2", "slack:U1", "slack:U2", "slack:U3")
	equalSlices(tr, "users", tr.users(10), []string{"telegram:1"})
}

func userLinkRoles(tr *trial) {
	tr.role("telegram:1", "member")
	tr.role("slack:U1", "owner")
	tr.link("telegram:1", "slack:U1")
	tr.wantUser("member", "telegram:1", "slack:U1")
	tr.role("discord:9", "owner")
	tr.link("telegram:2", "discord:9")
	tr.wantUser("", "telegram:2", "discord:9")
	equalSlices(tr, "users", tr.users(10), []string{"telegram:1", "telegram:2"})
}

// spoke is a session on a surface with one message of each user, in order.
func (tr *trial) spoke(on string, users ...string) string {
	tr.Helper()
	tr.clock.Advance(time.Second)
	var id string
	for _, user := range users {
		r := tr.heard("I am " + user)
		r.Surface, r.UserID = on, user
		id = tr.post(r).Session
	}
	return id
}

// wantParticipants waits until a session has these participants, in order,
// and this user.
func (tr *trial) wantParticipants(id, user string, want ...string) {
	tr.Helper()
	tr.eventually(fmt.Sprintf("%s is %s's and has the participants %q", id, user, want), func() bool {
		r := tr.get(id)
		return r.UserID == user && slices.Equal(r.Participants, want)
	})
}

func userMergeParticipants(tr *trial) {
	his := tr.spoke("telegram:1:1", "slack:U1", "telegram:8")
	theirs := tr.spoke("telegram:1:2", "telegram:8", "slack:U1", "telegram:9")
	hers := tr.spoke("telegram:1:3", "telegram:1")
	others := tr.spoke("telegram:1:4", "telegram:8", "telegram:9")
	before := tr.get(his)
	equal(tr, "merged", tr.link("telegram:1", "slack:U1"), "slack:U1")
	tr.wantParticipants(his, "telegram:1", "telegram:1", "telegram:8")
	tr.wantParticipants(theirs, "telegram:8", "telegram:8", "telegram:1", "telegram:9")
	tr.wantParticipants(hers, "telegram:1", "telegram:1")
	tr.wantParticipants(others, "telegram:8", "telegram:8", "telegram:9")
	after := tr.get(his)
	tr.check(after.LastActivityAt.Equal(before.LastActivityAt) && after.Seq == before.Seq && after.State == before.State, "merged %+v", after)
	tr.wantFound(sessions.Query{Participant: "telegram:1"}, hers, theirs, his)
	tr.wantFound(sessions.Query{UserID: "telegram:1"}, hers, his)
	tr.wantFound(sessions.Query{Participant: "slack:U1"})
	tr.wantFound(sessions.Query{UserID: "slack:U1"})
	tr.do(sessions.Reach(tr.get(theirs), sessions.Caller{User: tr.who("slack:U1")}))
}

func userMergeAnyState(tr *trial) {
	over := tr.spoke("telegram:1:1", "slack:U1")
	tr.ended(over)
	asleep := tr.spoke("telegram:1:2", "slack:U1")
	must(tr.store.Rotate(tr.ctx, sessions.RotateRequest{New: sessions.NewSession{Surface: "telegram:1:2"}}))(tr)
	fresh := tr.make(sessions.NewSession{ID: "api:fresh", UserID: "slack:U1", WorkspaceID: "w"}).ID
	r := tr.said("question")
	r.UserID, r.Claim = "slack:U1", claimer("w1")
	turn := tr.say(r, sessions.PostClaimed).Turn
	tr.link("telegram:1", "slack:U1")
	for _, id := range []string{over, asleep, fresh, turn.Lease.Session} {
		tr.wantParticipants(id, "telegram:1", "telegram:1")
	}
	tr.wantState(over, sessions.StateExpired, sessions.StatusInactive)
	tr.wantState(asleep, sessions.StateSuspended, sessions.StatusInactive)
	tr.wantState(turn.Lease.Session, sessions.StateActive, sessions.StatusRunning)
	tr.done(turn, "answer")
	tr.wantParticipants(turn.Lease.Session, "telegram:1", "telegram:1")
	tr.wantFound(sessions.Query{UserID: "telegram:1", WorkspaceID: "w", States: []sessions.State{sessions.StateCreated}}, fresh)
	tr.wantFound(sessions.Query{UserID: "telegram:1", States: []sessions.State{sessions.StateExpired}}, over)
	tr.wantFound(sessions.Query{UserID: "slack:U1", WorkspaceID: "w"})
}

func userMergeBoth(tr *trial) {
	first := tr.spoke("telegram:1:1", "slack:U1", "telegram:8", "telegram:1")
	second := tr.spoke("telegram:1:2", "telegram:1", "telegram:8", "slack:U1", "telegram:9")
	tr.link("telegram:1", "slack:U1")
	tr.wantParticipants(first, "telegram:1", "telegram:1", "telegram:8")
	tr.wantParticipants(second, "telegram:1", "telegram:1", "telegram:8", "telegram:9")
	tr.wantFound(sessions.Query{Participant: "telegram:1"}, second, first)
}

func userMergeMany(tr *trial) {
	const n = 150
	tr.crowdOf(n, func(i int) sessions.NewSession {
		return sessions.NewSession{ID: fmt.Sprintf("api:%d", i), UserID: []string{"slack:U1", "telegram:8"}[i%2]}
	})
	tr.link("telegram:1", "slack:U1")
	tr.eventually("all are rewritten", func() bool {
		return len(tr.found(sessions.Query{UserID: "telegram:1"})) == n/2 && len(tr.found(sessions.Query{Participant: "telegram:1"})) == n/2
	})
	equal(tr, "his", len(tr.found(sessions.Query{Participant: "slack:U1"})), 0)
	equal(tr, "others", len(tr.found(sessions.Query{UserID: "telegram:8"})), n/2)
	for i := 0; i < n; i += 2 {
		equalSlices(tr, "participants", tr.get(fmt.Sprintf("api:%d", i)).Participants, []string{"telegram:1"})
	}
}

func userMergeWhilePosting(tr *trial) {
	const n = 20
	var ids []string
	for i := range n {
		ids = append(ids, tr.spoke(fmt.Sprintf("telegram:1:%d", i), "slack:U1", "telegram:8"))
	}
	code := tr.offer("telegram:1")
	tr.together(5, func(worker int) error {
		if worker == 0 {
			_, _, err := tr.store.TakeLink(tr.ctx, code, "slack:U1")
			return err
		}
		for i := range n {
			r := sessions.PostRequest{Surface: fmt.Sprintf("telegram:1:%d", i), UserID: fmt.Sprintf("telegram:1%d", worker), Message: sessions.Message{Role: sessions.RoleUser, Text: "x"}}
			if _, err := tr.store.Post(tr.ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	for _, id := range ids {
		tr.eventually(id+" is rewritten", func() bool {
			r := tr.get(id)
			return r.UserID == "telegram:1" && len(r.Participants) == 6 && slices.Equal(r.Participants[:2], []string{"telegram:1", "telegram:8"})
		})
		equal(tr, "messages", tr.get(id).MessageCount, 6)
	}
}

func userCodeOnce(tr *trial) {
	code := tr.offer("telegram:1")
	tr.takeLink(code, "slack:U1")
	tr.cannotLink(code, "slack:U2", sessions.ErrNotFound)
	tr.cannotLink(code, "slack:U1", sessions.ErrNotFound)
	tr.wantUser("", "slack:U2")
}

func userCodeTime(tr *trial) {
	code := tr.offer("telegram:1")
	tr.clock.Advance(sessions.LinkFor - time.Minute)
	tr.takeLink(code, "slack:U1")
	late := tr.offer("telegram:1")
	tr.clock.Advance(sessions.LinkFor + time.Second)
	tr.cannotLink(late, "slack:U2", sessions.ErrNotFound)
	tr.wantUser("", "telegram:1", "slack:U1")
	tr.wantUser("", "slack:U2")
}

func userCodeNewer(tr *trial) {
	tr.link("telegram:1", "slack:U1")
	first, others := tr.offer("telegram:1"), tr.offer("telegram:8")
	second := tr.offer("slack:U1")
	tr.check(first != second, "the same code twice: %s", first)
	tr.cannotLink(first, "discord:9", sessions.ErrNotFound)
	tr.takeLink(second, "discord:9")
	tr.takeLink(others, "discord:8")
	tr.wantUser("", "telegram:1", "slack:U1", "discord:9")
	tr.wantUser("", "telegram:8", "discord:8")
}

func userCodeSelf(tr *trial) {
	tr.link("telegram:1", "slack:U1")
	code := tr.offer("telegram:1")
	tr.cannotLink(code, "telegram:1", sessions.ErrConflict)
	tr.cannotLink(code, "slack:U1", sessions.ErrConflict)
	tr.takeLink(code, "discord:9")
}

func userCodeUnknown(tr *trial) {
	code := tr.offer("telegram:1")
	for _, other := range []string{"nobody-gave-this", code + "x", code[:len(code)-1], strings.Repeat("a", 64)} {
		tr.cannotLink(other, "slack:U1", sessions.ErrNotFound)
	}
	tr.wantUser("", "slack:U1")
	tr.takeLink(code, "slack:U1")
}

func userCodes(tr *trial) {
	codes := map[string]bool{}
	for i := range 50 {
		code := tr.offer(fmt.Sprintf("telegram:%d", i))
		tr.check(len(code) >= 6 && !codes[code], "code %q", code)
		codes[code] = true
	}
}

func userCodeTogether(tr *trial) {
	code := tr.offer("telegram:1")
	var joined atomic.Int64
	tr.together(10, func(i int) error {
		_, merged, err := tr.store.TakeLink(tr.ctx, code, fmt.Sprintf("slack:U%d", i))
		if errors.Is(err, sessions.ErrNotFound) {
			return nil
		}
		if err == nil && merged != fmt.Sprintf("slack:U%d", i) {
			return fmt.Errorf("merged %s", merged)
		}
		joined.Add(1)
		return err
	})
	equal(tr, "joined", joined.Load(), 1)
	equal(tr, "identities", len(tr.who("telegram:1").Identities), 2)
}

func userCross(tr *trial) {
	for i := range 10 {
		a, b := fmt.Sprintf("telegram:%d", i), fmt.Sprintf("slack:%d", i)
		codes := []string{tr.offer(a), tr.offer(b)}
		tr.together(2, func(n int) error {
			_, _, err := tr.store.TakeLink(tr.ctx, codes[n], []string{b, a}[n])
			if errors.Is(err, sessions.ErrConflict) || errors.Is(err, sessions.ErrNotFound) {
				return nil
			}
			return err
		})
		user := tr.who(a)
		equalSlices(tr, "identities", tr.who(b).Identities, user.Identities)
		tr.check(len(user.Identities) == 2 && user.Is(a) && user.Is(b), "%s and %s are %+v", a, b, user)
	}
	equal(tr, "users", len(tr.users(100)), 10)
}

func userLists(tr *trial) {
	for i := range 7 {
		tr.role(fmt.Sprintf("telegram:%d", (i*3)%7), "member")
	}
	tr.link("telegram:3", "telegram:5")
	tr.link("slack:U2", "slack:U1")
	tr.offer("discord:1")
	tr.spoke(surface, "discord:2")
	want := []string{"slack:U2", "telegram:0", "telegram:1", "telegram:2", "telegram:3", "telegram:4", "telegram:6"}
	for _, limit := range []int{1, 2, 7, 8, sessions.ListMax} {
		equalSlices(tr, fmt.Sprintf("users by %d", limit), tr.users(limit), want)
	}
	for _, u := range must(tr.store.ListUsers(tr.ctx, "telegram:2", 1))(tr) {
		equal(tr, "behind telegram:2", u.ID, "telegram:3")
		equalSlices(tr, "identities", u.Identities, []string{"telegram:3", "telegram:5"})
		equal(tr, "role", u.Role, "member")
	}
	for _, limit := range []int{0, -1, sessions.ListMax + 1} {
		_, err := tr.store.ListUsers(tr.ctx, "", limit)
		tr.wantInvalid(err)
	}
}

func userLiterally(tr *trial) {
	odd := []string{"telegram:1", "telegram:10", "telegram:1:2", "Telegram:1", "telegram:{1}", "telegram:%", "telegram:_", "telegram:*", "telegram:'", "telegram:\"", "telegram:ä", "telegram:a\u0308"}
	for i, identity := range odd {
		tr.role(identity, fmt.Sprintf("role-%d", i))
	}
	for i, identity := range odd {
		tr.wantUser(fmt.Sprintf("role-%d", i), identity)
	}
	equal(tr, "users", len(tr.users(100)), len(odd))
}

func userLimits(tr *trial) {
	good := tr.offer("telegram:1")
	for _, bad := range []string{"", "telegram", ":1", "telegram:", "telegram:a b", "telegram:a\nb", "telegram:a\x00", "telegram:" + strings.Repeat("1", sessions.KeyMax), "telegram:" + strings.Repeat("1", 10<<10)} {
		_, err := tr.store.Who(tr.ctx, bad)
		tr.wantInvalid(err)
		_, err = tr.store.SetRole(tr.ctx, bad, "member")
		tr.wantInvalid(err)
		_, err = tr.store.OfferLink(tr.ctx, bad)
		tr.wantInvalid(err)
		_, _, err = tr.store.TakeLink(tr.ctx, good, bad)
		tr.wantInvalid(err)
	}
	for _, bad := range []string{"", "a b", "a\nb", "ä", strings.Repeat("a", 65), strings.Repeat("a", 10<<10)} {
		_, _, err := tr.store.TakeLink(tr.ctx, bad, "slack:U1")
		tr.wantInvalid(err)
	}
	_, err := tr.store.SetRole(tr.ctx, "telegram:1", strings.Repeat("r", sessions.KeyMax+1))
	tr.wantInvalid(err)
	_, err = tr.store.ListUsers(tr.ctx, strings.Repeat("1", 10<<10), 1)
	tr.wantInvalid(err)
	tr.takeLink(good, "slack:U1")
}

func userHints(tr *trial) {
	hints := must(tr.store.Wakes(tr.ctx))(tr)
	is := func(identity string) func(sessions.WorkItem) bool {
		return func(w sessions.WorkItem) bool { return w.Kind == sessions.WorkWho && w.ID == identity }
	}
	tr.role("telegram:1", "member")
	until(tr, hints, "the hint of a role", is("telegram:1"))
	tr.link("telegram:1", "slack:U1")
	until(tr, hints, "the hint of a link", is("slack:U1"))
	tr.role("telegram:1", "owner")
	seen := map[string]bool{}
	until(tr, hints, "the hints of a role for all identities", func(w sessions.WorkItem) bool {
		seen[w.ID] = seen[w.ID] || w.Kind == sessions.WorkWho
		return seen["telegram:1"] && seen["slack:U1"]
	})
}

func userSurvives(tr *trial) {
	tr.role("telegram:1", "member")
	tr.link("telegram:1", "slack:U1")
	code := tr.offer("slack:U1")
	tr.reopen()
	tr.wantUser("member", "telegram:1", "slack:U1")
	equalSlices(tr, "users", tr.users(10), []string{"telegram:1"})
	tr.takeLink(code, "discord:9")
	tr.wantUser("member", "telegram:1", "slack:U1", "discord:9")
}
