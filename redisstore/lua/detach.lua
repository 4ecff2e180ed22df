#!lua
-- detach: takes a surface off a session.
--
-- KEYS[1] tag of the surface's home partition
-- ARGV    surface, sid, 1 if the session is in this partition, id for the step
--         in another one
-- Returns {missing} | {state, sid, state, status} | {ok, forwards}
local surface, sid, mine, stepid = arg(), arg(), arg() == '1', arg()
if mine then
  local s = load(sid)
  if not s then return {'missing'} end
  if s.st == 'expired' then return {'state', s.id, s.st, s.su} end
  dropsurface(sid, surface)
else
  forward('s:' .. sid, stepid, 'drop', surface)
end
unbind(surface, sid)
return {'ok', forwards()}
