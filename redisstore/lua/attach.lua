#!lua
-- attach: makes a session the current one of a surface.
--
-- KEYS[1] tag of the surface's home partition
-- ARGV    surface, sid, 1 if the session is in this partition, group 0|1,
--         revive 0|1, id for the steps in other partitions
-- Returns {missing} | {group} | {state, sid, state, status}
--         | {ok, the session it had or empty, forwards}
local surface, sid, mine, group, revive, stepid = arg(), arg(), arg() == '1', arg() == '1', arg() == '1', arg()
if not mine then
  local old = rebind(surface, sid, true, stepid)
  forward('s:' .. sid, stepid .. 'j', 'join', (revive and 'r' or '-') .. surface)
  return {'ok', old, forwards()}
end
local s = load(sid)
if not s then return {'missing'} end
if group and s.ty == 'd' then return {'group'} end
if s.st == 'expired' then return {'state', s.id, s.st, s.su} end
local old = rebind(surface, sid, false, stepid)
local changed = surfaces(sid, surface)
if revive then
  touch(s)
  unhide(s)
end
if changed or revive then save(s) end
return {'ok', old, forwards()}
