#!lua
-- note: writes entries outside of turns.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, dedupe key, its ms, 1 if an entry may not wait, the leaf and the
--         version there have to be (or empty), entries (see readentries), metadata's maximum in
--         bytes, patch (see readpatch)
-- Returns {dup, record} | {missing} | {state, sid, state, status} | {gone}
--         | {taken} | {target} | {blob} | {metadata}
--         | {ok, now ms, {seq, parent, waiting 0|1, ...}, record}
local sid, dedupe, ttl, steers, ifleaf, ifversion = arg(), arg(), arg(), arg() == '1', int(), int()
local list = readentries()
local metamax, patch = int(), readpatch()

local s = load(sid)
if not s then return {'missing'} end
if seen(once(sid, dedupe)) then return {'dup', readrecord(sid)} end
local waits = open(s) or s.qn > 0
if s.st == 'expired' or steers and waits then return {'state', s.id, s.st, s.su} end
if ifversion and ifversion ~= s.vr then return {'taken'} end
if ifleaf and ifleaf > 0 and not read(s, ifleaf) then return {'gone'} end
if ifleaf and ifleaf ~= s.lf then return {'taken'} end
local fault = wrong(s, list)
if fault then return {fault} end
local change = patched(sid, patch, metamax)
if not change then return {'metadata'} end

if waits then
  for _, e in ipairs(list) do
    if e.place == 't' then e.place = 'w' end
  end
end
local written, out = writeall(s, list), {}
for i, e in ipairs(list) do
  out[3 * i - 2], out[3 * i - 1] = written[2 * i - 1], written[2 * i]
  out[3 * i] = e.place == 'w' and 1 or 0
  if e.place == 'w' then
    call('RPUSH', key('w', sid), written[2 * i - 1])
    s.wn = s.wn + 1
  end
end
applypatch(s, change)
remember(once(sid, dedupe), written[1], sid, ttl)
return {'ok', NOW, out, record(s, save(s))}
