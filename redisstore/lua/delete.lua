#!lua
-- delete: removes a session.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, 1 if only without a turn that ended, id for the steps in other
--         partitions and for what is left to be cleaned up
-- Returns {missing} | {group} | {state, sid, state, status} | {nothing}
--         | {ok, forwards}
local s, unused, id = load(arg()), arg() == '1', arg()
if not s then return {'missing'} end
local why = undeletable(s)
if why then return {why, s.id, s.st, s.su} end
if unused and s.tc > 0 then return {'nothing'} end
delete(s, id)
return {'ok', forwards()}
