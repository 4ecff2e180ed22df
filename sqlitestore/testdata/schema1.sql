-- What a gateway with schema 1 wrote: an answered chat whose answer is being sent, a parked turn, a
-- turn that runs while messages wait, sessions opened by hand, a timer at rest and a fired one, a lock.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
INSERT INTO sessions VALUES(1,'telegram:2026-03-01-r5a6hcxo3ban','active','idle','telegram:5','ws',1772366401000,1772366401000,1772366401000,2,2,1,2,1,1,'hello',1,0,0,1772366401000,'','[{"s":1,"r":"member","f":"telegram:1:100","t":1772366401000}]',0,0,'',0,1,NULL);
INSERT INTO sessions VALUES(2,'telegram:2026-03-01-jnx6rjgh5re4','active','idle','telegram:6','ws',1772366402000,1772366402000,1772366402000,1,1,1,2,1,0,'poison',1,0,0,1772366402000,'','[{"s":1,"r":"member","f":"telegram:1:200","t":1772366402000}]',0,0,'',0,1,NULL);
INSERT INTO sessions VALUES(3,'telegram:2026-03-01-36b3a7lo7rbq','active','running','telegram:5','ws',1772366403000,1772366405000,1772366403000,3,1,1,3,3,0,'overheard',1,1,1,1772366404000,'[{"s":1,"r":"member","f":"telegram:1:300","t":1772366403000}]','',1,0,'2T4XEVBNFE7NCWITKO4LVIU3KW',1772366415000,1,1772366415000);
INSERT INTO sessions VALUES(4,'cli:work','suspended','inactive','cli:local','',1772366405000,1772366405000,1772366405000,0,0,0,1,0,0,'',0,0,0,0,'','',0,0,'',0,0,NULL);
INSERT INTO sessions VALUES(5,'cli:work~7l65rrzghujq','created','idle','cli:local','',1772366405000,1772366405000,0,0,0,0,0,0,0,'',0,0,0,0,'','',0,0,'',0,0,NULL);
CREATE TABLE details (
  session INTEGER PRIMARY KEY REFERENCES sessions (num),
  body    TEXT NOT NULL
);
INSERT INTO details VALUES(1,'{"source":{"kind":"channel","interactive":false,"platform":"telegram","type":"direct"},"surfaces":["telegram:1:100"],"description":"hello","description_source":"fallback"}');
INSERT INTO details VALUES(2,'{"source":{"kind":"channel","interactive":false,"platform":"telegram","type":"direct"},"surfaces":["telegram:1:200"],"description":"poison","description_source":"fallback"}');
INSERT INTO details VALUES(3,'{"source":{"kind":"channel","interactive":false,"platform":"telegram","type":"direct"},"surfaces":["telegram:1:300"],"description":"running","description_source":"fallback"}');
INSERT INTO details VALUES(4,'{"source":{"kind":"cli","interactive":true,"type":"direct"},"metadata":{"k":"v"},"name":"work"}');
INSERT INTO details VALUES(5,'{"source":{"kind":"cli","interactive":false,"type":"direct"},"surfaces":["cli:local:work"]}');
CREATE TABLE participants (
  session INTEGER NOT NULL,
  user_id TEXT    NOT NULL,
  place   INTEGER NOT NULL, -- order in which they first spoke
  PRIMARY KEY (session, user_id)
) WITHOUT ROWID;
INSERT INTO participants VALUES(1,'telegram:5',1);
INSERT INTO participants VALUES(2,'telegram:6',1);
INSERT INTO participants VALUES(3,'telegram:5',1);
INSERT INTO participants VALUES(3,'telegram:6',2);
INSERT INTO participants VALUES(3,'telegram:7',3);
INSERT INTO participants VALUES(4,'cli:local',0);
INSERT INTO participants VALUES(5,'cli:local',0);
CREATE TABLE bindings (
  surface TEXT PRIMARY KEY,
  session INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO bindings VALUES('cli:local:work',5);
INSERT INTO bindings VALUES('telegram:1:100',1);
INSERT INTO bindings VALUES('telegram:1:200',2);
INSERT INTO bindings VALUES('telegram:1:300',3);
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
INSERT INTO entries VALUES(1,1,0,0,1772366401000,'message','{"role":"user","text":"hello","surface":"telegram:1:100","triggered":true,"sent_at":"2026-03-01T12:00:01Z"}');
INSERT INTO entries VALUES(1,2,1,0,1772366401000,'message','{"role":"assistant","text":"hi"}');
INSERT INTO entries VALUES(2,1,0,0,1772366402000,'message','{"role":"user","text":"poison","surface":"telegram:1:200","triggered":true,"sent_at":"2026-03-01T12:00:02Z"}');
INSERT INTO entries VALUES(3,1,0,0,1772366403000,'message','{"role":"user","text":"running","surface":"telegram:1:300","triggered":true,"sent_at":"2026-03-01T12:00:03Z"}');
INSERT INTO entries VALUES(3,2,0,1,1772366404000,'message','{"role":"user","text":"waiting","surface":"telegram:1:300","triggered":true,"sent_at":"2026-03-01T12:00:04Z"}');
INSERT INTO entries VALUES(3,3,0,1,1772366405000,'message','{"role":"user","text":"overheard","surface":"telegram:1:300","sent_at":"2026-03-01T12:00:05Z"}');
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
INSERT INTO queue VALUES(3,2,'member','telegram:1:300',0,1772366404000,0);
CREATE TABLE dedupe (
  key     TEXT PRIMARY KEY,
  until   INTEGER NOT NULL,
  session INTEGER NOT NULL, -- 0: of none
  seq     INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO dedupe VALUES('event-1',1772539201000,1,1);
INSERT INTO dedupe VALUES('event-2',1772539202000,2,1);
INSERT INTO dedupe VALUES('event-3',1772539203000,3,1);
INSERT INTO dedupe VALUES('event-4',1772539204000,3,2);
INSERT INTO dedupe VALUES('event-5',1772539205000,3,3);
INSERT INTO dedupe VALUES('event-6',1772539205000,5,0);
INSERT INTO dedupe VALUES('event-7',1772539205000,0,0);
CREATE TABLE dead (
  num      INTEGER PRIMARY KEY AUTOINCREMENT,
  session  INTEGER NOT NULL,
  messages TEXT    NOT NULL, -- as in sessions.taken
  reason   TEXT    NOT NULL,
  attempts INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  leaf     INTEGER NOT NULL  -- where the parked turn ended
);
INSERT INTO dead VALUES(1,2,'[{"s":1,"r":"member","f":"telegram:1:200","t":1772366402000}]','three times',1,1772366402000,1);
CREATE TABLE outbox (
  num        INTEGER PRIMARY KEY AUTOINCREMENT,
  surface    TEXT    NOT NULL,
  session    INTEGER NOT NULL, -- 0: of none
  entry      INTEGER NOT NULL,
  payload    TEXT    NOT NULL,
  attempt    INTEGER NOT NULL,
  maybe_sent INTEGER NOT NULL
);
INSERT INTO outbox VALUES(1,'telegram:1:100',1,2,'{"text":"hi"}',1,0);
INSERT INTO outbox VALUES(2,'telegram:1:400',0,0,'{"text":"welcome"}',0,0);
CREATE TABLE lanes (
  surface TEXT PRIMARY KEY,
  nonce   TEXT    NOT NULL, -- empty: nobody has it
  due_at  INTEGER NOT NULL  -- when it may be taken
) WITHOUT ROWID;
INSERT INTO lanes VALUES('telegram:1:100','ZS7LA3POH7SIJNSPMX32SRTLF6',1772366413000);
INSERT INTO lanes VALUES('telegram:1:400','',1772366405000);
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
INSERT INTO timers VALUES('telegram:2026-03-01-r5a6hcxo3ban','fired','checkpoint','',1772366405000,2,1772366417000);
INSERT INTO timers VALUES('telegram:2026-03-01-r5a6hcxo3ban','idle','checkpoint','',1772370005000,1,1772370005000);
CREATE TABLE locks (
  name  TEXT PRIMARY KEY,
  owner TEXT    NOT NULL, -- empty: nobody has it
  fence INTEGER NOT NULL,
  until INTEGER NOT NULL,
  data  TEXT    NOT NULL
) WITHOUT ROWID;
INSERT INTO locks VALUES('telegram:1','w1',1,1772366417000,'offset 17');
CREATE TABLE chats (
  chat TEXT PRIMARY KEY,
  by   TEXT    NOT NULL,
  at   INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO chats VALUES('telegram:1:-9','telegram:5',1772366405000);
CREATE TABLE fences (
  last INTEGER NOT NULL -- the fence given to a timer last
);
INSERT INTO fences VALUES(2);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('outbox',2);
INSERT INTO sqlite_sequence VALUES('dead',1);
CREATE INDEX sessions_due ON sessions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sessions_state ON sessions (state, active_at, id);
CREATE INDEX sessions_user ON sessions (user_id, active_at, id);
CREATE INDEX sessions_workspace ON sessions (workspace_id, active_at, id) WHERE workspace_id <> '';
CREATE INDEX participants_user ON participants (user_id, session);
CREATE INDEX entries_waiting ON entries (session, seq) WHERE waiting;
CREATE INDEX dedupe_until ON dedupe (until);
CREATE INDEX dead_session ON dead (session);
CREATE INDEX outbox_surface ON outbox (surface, num);
CREATE INDEX lanes_due ON lanes (due_at);
CREATE INDEX timers_due ON timers (due_at);
COMMIT;
PRAGMA application_id = 1348563564;
PRAGMA user_version = 1;
