-- Numbers of sessions and logs are drawn from fences, so that none comes twice.
UPDATE fences SET last = max(last, (SELECT coalesce(max(num), 0) FROM sessions));

ALTER TABLE sessions ADD COLUMN log     INTEGER NOT NULL DEFAULT 0;  -- whose entries are its own; another one after each clear
ALTER TABLE sessions ADD COLUMN cleared INTEGER NOT NULL DEFAULT 0;  -- the entries up to this seq were erased
ALTER TABLE sessions ADD COLUMN placed  INTEGER NOT NULL DEFAULT 0;  -- how many entries ever entered the tree
ALTER TABLE sessions ADD COLUMN type    TEXT    NOT NULL DEFAULT ''; -- source.type in details: direct, group or empty
ALTER TABLE entries RENAME COLUMN session TO log;
UPDATE sessions SET log = num,
  type = coalesce((SELECT json_extract(body, '$.source.type') FROM details WHERE session = num AND json_extract(body, '$.source.type') IN ('direct', 'group')), ''),
  placed = (SELECT count(*) FROM entries e WHERE e.log = num AND NOT waiting AND e.type IN
    ('message', 'compaction', 'branch_summary', 'model_change', 'thinking_level_change', 'session_name', 'label', 'custom_info', 'custom_message'));

-- Each condition of a query has its order of activity, newest first; queries
-- read them backwards and merge states and types.
DROP INDEX sessions_state;
DROP INDEX sessions_user;
DROP INDEX sessions_workspace;
CREATE INDEX sessions_life ON sessions (type, state, active_at, id);
CREATE INDEX sessions_user ON sessions (user_id, state, active_at, id);
CREATE INDEX sessions_workspace ON sessions (workspace_id, state, active_at, id) WHERE workspace_id <> '';

-- A participant's sessions by the hour of their last activity, so that a
-- message rarely changes more than its session.
ALTER TABLE participants ADD COLUMN hour INTEGER NOT NULL DEFAULT 0;
UPDATE participants SET hour = (SELECT active_at / 3600000 FROM sessions WHERE num = session);
DROP INDEX participants_user;
CREATE INDEX participants_user ON participants (user_id, hour, session);

-- The surface or session whose keys it is among. What was written before is
-- found by the message, else by what its session is bound to; empty: unknown.
ALTER TABLE dedupe ADD COLUMN home TEXT NOT NULL DEFAULT '';
UPDATE dedupe SET home = coalesce(
  (SELECT nullif(json_extract(payload, '$.surface'), '') FROM entries e WHERE e.log = dedupe.session AND e.seq = dedupe.seq AND e.type = 'message'),
  (SELECT surface FROM bindings b WHERE b.session = dedupe.session),
  (SELECT id FROM sessions WHERE num = dedupe.session), '');

-- A dead letter can be replayed in place while nothing entered the tree behind it.
ALTER TABLE dead ADD COLUMN placed INTEGER NOT NULL DEFAULT 0;
UPDATE dead SET placed = (SELECT s.placed - (s.leaf <> dead.leaf) FROM sessions s WHERE s.num = dead.session);
ALTER TABLE dead DROP COLUMN leaf;

-- Listed newest first, in whatever order another store gave them.
CREATE INDEX dead_at ON dead (at);

-- Ids that were given by another store; NULL: it is the number.
ALTER TABLE dead ADD COLUMN id TEXT;
CREATE UNIQUE INDEX dead_id ON dead (id) WHERE id IS NOT NULL;
ALTER TABLE outbox ADD COLUMN id TEXT;
CREATE UNIQUE INDEX outbox_id ON outbox (id) WHERE id IS NOT NULL;

CREATE INDEX timers_fired ON timers (home, name) WHERE due_at <> due;

-- Logs that nobody can see: their entries are erased bit by bit.
CREATE TABLE erasures (
  log    INTEGER PRIMARY KEY,
  staged INTEGER NOT NULL -- 1: an import writes it still
);

-- Who has several identities or a role. The id is his first identity.
CREATE TABLE users (
  id   TEXT PRIMARY KEY,
  role TEXT NOT NULL -- empty: none was set
) WITHOUT ROWID;
CREATE TABLE identities (
  identity TEXT PRIMARY KEY,
  user_id  TEXT    NOT NULL,
  place    INTEGER NOT NULL -- order in which they were linked
) WITHOUT ROWID;
CREATE INDEX identities_user ON identities (user_id, place);
CREATE TABLE links (
  code     TEXT PRIMARY KEY,
  identity TEXT    NOT NULL, -- who offered it
  until    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX links_identity ON links (identity);
-- Users who became another one, and are still named in sessions.
CREATE TABLE merges (
  former  TEXT PRIMARY KEY,
  user_id TEXT NOT NULL
) WITHOUT ROWID;
