-- What fires on time. The timer is a row of timers, as every other.
CREATE TABLE schedules (
  id         TEXT PRIMARY KEY,
  by         TEXT    NOT NULL,
  definition TEXT    NOT NULL,
  state      TEXT    NOT NULL,
  version    INTEGER NOT NULL, -- drawn from fences
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX schedules_by ON schedules (by, id);

CREATE TABLE schedule_runs (
  schedule TEXT    NOT NULL,
  id       TEXT    NOT NULL,
  at       INTEGER NOT NULL,
  body     TEXT    NOT NULL,
  PRIMARY KEY (schedule, id)
) WITHOUT ROWID;
CREATE INDEX schedule_runs_at ON schedule_runs (schedule, at, id);
