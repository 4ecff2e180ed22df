#!lua flags=no-writes
-- get: reads a record.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid
-- Returns {missing} | {ok, record}
local found = readrecord(arg())
if not found then return {'missing'} end
return {'ok', found}
