package sqlitestore

import (
	"database/sql"

	"parley/sessions"
)

const (
	// mergeSessions is how many sessions one operation rewrites for a user who
	// became another one, so that nobody waits long for the writer.
	mergeSessions = 100
)

// merge makes a user one with another, who has their identities already. Their
// sessions are rewritten at once, or where they are many, behind the caller.
func (t *tx) merge(user sessions.User, former string) error {
	for _, query := range []string{"DELETE FROM identities WHERE user_id = ?", "DELETE FROM users WHERE id = ?"} {
		if _, err := t.exec(query, former); err != nil {
			return err
		}
	}
	if err := t.keepUser(user); err != nil {
		return err
	}
	if _, err := t.exec("UPDATE merges SET user_id = ? WHERE user_id = ?", user.ID, former); err != nil {
		return err
	}
	if _, err := t.exec("INSERT INTO merges (former, user_id) VALUES (?, ?)", former, user.ID); err != nil {
		return err
	}
	_, err := t.mergeSome()
	return err
}

// mergeSome rewrites some sessions of a user who became another one. more is
// false when none is left.
func (t *tx) mergeSome() (more bool, err error) {
	var former, user string
	found, err := t.one("SELECT former, user_id FROM merges LIMIT 1", nil, []any{&former, &user})
	if err != nil || !found {
		return false, err
	}
	nums, err := t.naming(former)
	if err != nil {
		return false, err
	}
	for _, num := range nums {
		if err := t.rename(num, former, user); err != nil {
			return false, err
		}
	}
	if len(nums) < mergeSessions {
		_, err = t.exec("DELETE FROM merges WHERE former = ?", former)
	}
	return true, err
}

// naming finds sessions that name a user.
func (t *tx) naming(user string) (nums []int64, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var num int64
		err := rows.Scan(&num)
		nums = append(nums, num)
		return err
	}, `SELECT session FROM (SELECT session FROM participants WHERE user_id = ?1 LIMIT ?2)
		UNION SELECT num FROM (SELECT num FROM sessions WHERE user_id = ?1 LIMIT ?2) LIMIT ?2`, user, mergeSessions)
	return nums, err
}

// rename puts a user in the place of another in a session.
func (t *tx) rename(session int64, from, to string) error {
	if err := t.renameParticipant(session, from, to); err != nil {
		return err
	}
	_, err := t.exec("UPDATE sessions SET user_id = iif(user_id = ?2, ?3, user_id), version = version + 1 WHERE num = ?1", session, from, to)
	return err
}

// renameParticipant puts a user in the place of another; where both take part,
// in the earlier of their places.
func (t *tx) renameParticipant(session int64, from, to string) error {
	for _, query := range []string{
		`UPDATE participants SET place = min(place, (SELECT place FROM participants WHERE session = ?1 AND user_id = ?2))
			WHERE session = ?1 AND user_id = ?3 AND EXISTS (SELECT 1 FROM participants WHERE session = ?1 AND user_id = ?2)`,
		"UPDATE OR IGNORE participants SET user_id = ?3 WHERE session = ?1 AND user_id = ?2",
		"DELETE FROM participants WHERE session = ?1 AND user_id = ?2 AND ?3 <> ''",
	} {
		if _, err := t.exec(query, session, from, to); err != nil {
			return err
		}
	}
	return nil
}
