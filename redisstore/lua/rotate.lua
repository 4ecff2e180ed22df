#!lua
-- rotate: gives a surface a new session.
--
-- KEYS[1] tag of the surface's home partition
-- ARGV    surface, dedupe key, its ms, wanted id, bare id, drawn id, user, cold
--         part, id for the step in another partition, rows (see readrows),
--         send ms (0: no), lanes' nonce, the session that the surface has to
--         have or empty
-- Returns {dup} | {elsewhere, sid} | {taken} | {blob} | {ok, old or empty, record, lanes taken, forwards}
local surface, dedupe, ttl, wanted, bare, drawn = arg(), arg(), arg(), arg(), arg(), arg()
local user, cold, stepid = arg(), arg(), arg()
local rows, send, nonce, held = readrows(), int(), arg(), arg()
if seen(once(surface, dedupe)) then return {'dup'} end
local old, away = boundto(surface)
old = old or ''
if held ~= '' and old ~= '' and old ~= held then return {'elsewhere', old} end
local id = newid(wanted, bare, drawn)
if not id then return {'taken'} end
local fault = missingblob(rows)
if fault then return {fault} end

if away then
  forward('s:' .. old, stepid, 'leave', surface)
elseif old ~= '' then
  leave(old, surface)
end
local s = create(id, user, cold)
enlist(s)
bind(surface, id)
local hot = save(s)
remember(once(surface, dedupe), 0, id, ttl)
pushrows(rows, id, {}, send > 0)
return {'ok', old, record(s, hot), takelanes(rows, nonce, send), forwards()}
