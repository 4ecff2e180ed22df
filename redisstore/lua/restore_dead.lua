#!lua
-- restore_dead: writes a dead letter as it was.
--
-- KEYS[1] tag of its session's partition
-- ARGV    id, sid, at ms, why, attempts, placed, seqs, turn
-- Returns {missing} | {ok}
local id, sid, at, why, attempts, count, seqs, turn = arg(), arg(), arg(), arg(), arg(), arg(), arg(), arg()
local s = load(sid)
if not s then return {'missing'} end
call('ZADD', base .. ':dead', at, id)
call('SADD', key('ds', sid), id)
call('HSET', key('dl', id), 'sid', sid, 'at', at, 'why', why, 'n', attempts, 'tn', count, 'seqs', seqs, 'turn', turn)
if not open(s) and s.la == turn and not s.ld then
  s.ld = id
  store(s)
end
return {'ok'}
