-- When a lock is forgotten; for ever: the largest number. What the versions
-- before kept for ever of commands and keys that were carried out goes now.
ALTER TABLE locks ADD COLUMN expires INTEGER NOT NULL DEFAULT 9223372036854775807;
UPDATE locks SET expires = unixepoch() * 1000 + 172800000 WHERE name LIKE 'commands:%' OR name LIKE 'keys:%' OR data = '';
CREATE INDEX locks_expires ON locks (expires);
