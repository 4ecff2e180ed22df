-- A session: what changes with every message, and the state of its turn.
-- Times are milliseconds since 1970, UTC.
CREATE TABLE sessions (
  num            INTEGER PRIMARY KEY,
  id             TEXT    NOT NULL UNIQUE,
  state          TEXT    NOT NULL,
  status         TEXT    NOT NULL,
  user_id        TEXT    NOT NULL,
  workspace_id   TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  active_at      INTEGER NOT NULL,
  changed_at     INTEGER NOT NULL,
  seq            INTEGER NOT NULL,
  leaf           INTEGER NOT NULL,
  epoch          INTEGER NOT NULL,
  version        INTEGER NOT NULL,
  messages       INTEGER NOT NULL,
  turns          INTEGER NOT NULL,
  preview        TEXT    NOT NULL,
  described      INTEGER NOT NULL, -- 1: there is a description
  queued         INTEGER NOT NULL, -- rows in queue
  logged_waiting INTEGER NOT NULL, -- entries that wait and are not in queue
  ready_at       INTEGER NOT NULL, -- when what is queued may be taken up
  taken          TEXT    NOT NULL, -- messages of the open turn, JSON; empty: none is open
  last           TEXT    NOT NULL, -- messages of the last turn that ended, JSON
  attempts       INTEGER NOT NULL, -- of the open turn
  stop           INTEGER NOT NULL,
  nonce          TEXT    NOT NULL, -- of the lease; empty: it was given back
  lease_until    INTEGER NOT NULL, -- of an open turn: when it may be claimed
  settled        INTEGER NOT NULL, -- up to which seq the holder's entries have their place
  due_at         INTEGER           -- when there is a turn to claim; NULL: there is none
);
CREATE INDEX sessions_due ON sessions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sessions_state ON sessions (state, active_at, id);
CREATE INDEX sessions_user ON sessions (user_id, active_at, id);
CREATE INDEX sessions_workspace ON sessions (workspace_id, active_at, id) WHERE workspace_id <> '';

-- The rest of the record, apart so that a message does not rewrite it.
CREATE TABLE details (
  session INTEGER PRIMARY KEY REFERENCES sessions (num),
  body    TEXT NOT NULL
);

CREATE TABLE participants (
  session INTEGER NOT NULL,
  user_id TEXT    NOT NULL,
  place   INTEGER NOT NULL, -- order in which they first spoke
  PRIMARY KEY (session, user_id)
) WITHOUT ROWID;
CREATE INDEX participants_user ON participants (user_id, session);

CREATE TABLE bindings (
  surface TEXT PRIMARY KEY,
  session INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE entries (
  session INTEGER NOT NULL,
  seq     INTEGER NOT NULL,
  parent  INTEGER NOT NULL,
  waiting INTEGER NOT NULL,
  time    INTEGER NOT NULL,
  type    TEXT    NOT NULL,
  payload TEXT    NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE INDEX entries_waiting ON entries (session, seq) WHERE waiting;

-- Messages that wait for a turn.
CREATE TABLE queue (
  session  INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  rights   TEXT    NOT NULL,
  surface  TEXT    NOT NULL,
  alone    INTEGER NOT NULL,
  sent_at  INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (session, seq)
) WITHOUT ROWID;

CREATE TABLE dedupe (
  key     TEXT PRIMARY KEY,
  until   INTEGER NOT NULL,
  session INTEGER NOT NULL, -- 0: of none
  seq     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX dedupe_until ON dedupe (until);

CREATE TABLE dead (
  num      INTEGER PRIMARY KEY AUTOINCREMENT,
  session  INTEGER NOT NULL,
  messages TEXT    NOT NULL, -- as in sessions.taken
  reason   TEXT    NOT NULL,
  attempts INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  leaf     INTEGER NOT NULL  -- where the parked turn ended
);
CREATE INDEX dead_session ON dead (session);

CREATE TABLE outbox (
  num        INTEGER PRIMARY KEY AUTOINCREMENT,
  surface    TEXT    NOT NULL,
  session    INTEGER NOT NULL, -- 0: of none
  entry      INTEGER NOT NULL,
  payload    TEXT    NOT NULL,
  attempt    INTEGER NOT NULL,
  maybe_sent INTEGER NOT NULL
);
CREATE INDEX outbox_surface ON outbox (surface, num);

-- A lane is there while it has rows.
CREATE TABLE lanes (
  surface TEXT PRIMARY KEY,
  nonce   TEXT    NOT NULL, -- empty: nobody has it
  due_at  INTEGER NOT NULL  -- when it may be taken
) WITHOUT ROWID;
CREATE INDEX lanes_due ON lanes (due_at);

CREATE TABLE timers (
  home    TEXT    NOT NULL,
  name    TEXT    NOT NULL,
  purpose TEXT    NOT NULL,
  payload TEXT    NOT NULL, -- empty: none
  due     INTEGER NOT NULL, -- as it was set
  fence   INTEGER NOT NULL,
  due_at  INTEGER NOT NULL, -- when it may be fired
  PRIMARY KEY (home, name)
) WITHOUT ROWID;
CREATE INDEX timers_due ON timers (due_at);

CREATE TABLE locks (
  name  TEXT PRIMARY KEY,
  owner TEXT    NOT NULL, -- empty: nobody has it
  fence INTEGER NOT NULL,
  until INTEGER NOT NULL,
  data  TEXT    NOT NULL
) WITHOUT ROWID;

CREATE TABLE chats (
  chat TEXT PRIMARY KEY,
  by   TEXT    NOT NULL,
  at   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE fences (
  last INTEGER NOT NULL -- the fence given to a timer last
);
INSERT INTO fences VALUES (0);
