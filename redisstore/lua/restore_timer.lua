#!lua
-- restore_timer: sets a timer as it was.
--
-- KEYS[1] tag of its home's partition
-- ARGV    ref, purpose, blob, payload, due ms, fence
-- Returns {blob} | {ok}
local ref, purpose, blob, payload, time, set = arg(), arg(), arg(), arg(), int(), int()
if blob ~= '' and call('PERSIST', key('e', blob)) == 0 then return {'blob'} end
endtimer(ref)
call('HSET', key('t', ref), 'p', purpose, 'd', payload, 'b', blob, 'du', time, 'f', set)
call('SADD', key('th', homeof(ref)), ref)
raisefence(set)
due('timer:' .. ref, time)
return {'ok'}
