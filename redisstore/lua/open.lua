#!lua
-- open: creates or reopens a session.
--
-- KEYS[1] tag of the session's or the surface's partition
-- ARGV    wanted id, surface (each may be empty), bare id, drawn id, user,
--         cold part (empty: it is only reopened), metadata's maximum in bytes,
--         patch of the metadata
-- Returns {moved, sid} | {taken} | {missing} | {state, sid, state, status}
--         | {metadata} | {ok, created 0|1, record}
local wanted, surface, bare, drawn, user, cold, metamax = arg(), arg(), arg(), arg(), arg(), arg(), int()
local patch = readpatch()
local bound, away
if surface ~= '' then bound, away = boundto(surface) end
if bound and wanted ~= '' and bound ~= wanted then return {'taken'} end
if away then return {'moved', bound} end

local s = (wanted ~= '' or bound) and load(bound or wanted)
if not s and cold == '' then return {'missing'} end
if not s then
  s = create(wanted ~= '' and wanted or newid('', bare, drawn), user, cold)
  enlist(s)
  if surface ~= '' then bind(surface, s.id) end
  return {'ok', 1, record(s, save(s))}
end
if s.st == 'expired' then return {'state', s.id, s.st, s.su} end
local change = patched(s.id, patch, metamax)
if not change then return {'metadata'} end
applypatch(s, change)
local attach = surface ~= '' and not bound
if attach then
  surfaces(s.id, surface)
  bind(surface, s.id)
end
if attach or #patch > 0 then save(s) end
return {'ok', 0, readrecord(s.id)}
