#!lua
-- update: changes a record.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, metadata's maximum in bytes, patch (see readpatch)
-- Returns {missing} | {state, sid, state, status} | {metadata} | {ok, record}
local sid, metamax = arg(), int()
local patch = readpatch()
local s = load(sid)
if not s then return {'missing'} end
if s.st == 'expired' then return {'state', s.id, s.st, s.su} end
local change = patched(sid, patch, metamax)
if not change then return {'metadata'} end
applypatch(s, change)
return {'ok', record(s, save(s))}
