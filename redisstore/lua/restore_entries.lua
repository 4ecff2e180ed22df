#!lua
-- restore_entries: writes entries of a session that was restored, by seq;
-- those that are there already stay.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, the first one's seq, entries as stored
-- Returns {missing} | {gap} | {ok}
local s, seq = load(arg()), int()
if not s then return {'missing'} end
local there = s.cl + call('LLEN', key('l', s.id))
if seq > there + 1 then return {'gap'} end
for i = 4, #ARGV do
  if seq > there then call('RPUSH', key('l', s.id), ARGV[i]) end
  seq = seq + 1
end
return {'ok'}
