#!lua flags=no-writes
-- bound: reads the record of a surface's current session.
--
-- KEYS[1] tag of the surface's home partition
-- ARGV    surface
-- Returns {missing} | {moved, sid} | {ok, record}
local sid, away = boundto(arg())
if not sid then return {'missing'} end
if away then return {'moved', sid} end
local found = readrecord(sid)
if not found then return {'missing'} end
return {'ok', found}
