#!lua
-- implant: makes a session as it was elsewhere.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, name of its staged entries (see stage.lua) and how many they
--         are, record's changing part and cold part as stored, when its turn is
--         due in ms (0: now, -1: it has none), three counted lists: participants
--         after the first, items that wait (see item), seqs that wait
-- Returns {taken} | {blob} | {ok, record}
local sid, staged, count, hot, cold, dueat = arg(), arg(), int(), arg(), arg(), int()
if call('EXISTS', key('s', sid)) == 1 then return {'taken'} end
if call('LLEN', key('il', staged)) ~= count then return {'blob'} end
if count > 0 then
  call('RENAME', key('il', staged), key('l', sid))
  call('PERSIST', key('l', sid))
end
local s = setmetatable(cmsgpack.unpack(hot), unset)
s.id = sid
call('SET', key('r', sid), cold)
if s.us and s.us ~= userid(s) then call('SADD', key('ip', s.us), sid) end
for i = 1, int() do
  local user = arg()
  call('ZADD', key('m', sid), i - 1, user)
  if user ~= userid(s) then call('SADD', key('ip', user), sid) end
end
for _ = 1, int() do call('RPUSH', key('q', sid), arg()) end
for _ = 1, int() do call('RPUSH', key('w', sid), arg()) end
if dueat >= 0 then due('turn:' .. sid, math.max(NOW, dueat)) end
enlist(s)
return {'ok', record(s, store(s))}
