#!lua
-- clear: erases a session's entries.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, id for what is left to be cleaned up
-- Returns {missing} | {state, sid, state, status} | {ok, record}
local s, id = load(arg()), arg()
if not s then return {'missing'} end
if s.st == 'expired' or open(s) then return {'state', s.id, s.st, s.su} end
local cold = coldpart(s.id)
local checked = (cold.ks or '0 '):sub(1, 2) ~= '0 '
if cold.dss == 'fallback' or checked and cold.dss == 'agent' then
  cold.ds, cold.dss, s.dd = nil, nil, nil
end
if checked then cold.wm = nil end
cold.ks = s.tc > 0 and string.format('0 %d', s.tc) or nil
savecold(s.id, cold)
erase(s, id)
s.cl, s.lf, s.qn, s.wn = s.n, 0, 0, 0
s.qd, s.la, s.pv, s.ct = nil, nil, nil, nil
live(s, 'e' .. s.n)
live(s, 's')
return {'ok', record(s, save(s))}
