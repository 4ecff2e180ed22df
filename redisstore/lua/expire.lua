#!lua
-- expire: ends a session for good.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, id for the steps in other partitions
-- Returns {missing} | {ok, record, forwards}
local s = load(arg())
if not s then return {'missing'} end
expire(s, arg())
return {'ok', readrecord(s.id), forwards()}
