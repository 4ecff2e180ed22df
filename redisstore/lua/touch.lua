#!lua
-- touch: counts as activity.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid
-- Returns {missing} | {state, sid, state, status} | {ok, record}
local s = load(arg())
if not s then return {'missing'} end
if s.st == 'expired' then return {'state', s.id, s.st, s.su} end
touch(s)
unhide(s)
return {'ok', record(s, save(s))}
