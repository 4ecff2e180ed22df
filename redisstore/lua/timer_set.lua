#!lua
-- timer_set: sets or replaces a timer.
--
-- KEYS[1] tag of its home's partition
-- ARGV    ref, purpose, blob, payload, after ms, due ms (counts when after is
--         0; 0: now)
-- Returns {blob} | {ok}
local ref, purpose, blob, payload, after, time = arg(), arg(), arg(), arg(), int(), int()
if blob ~= '' and call('EXISTS', key('e', blob)) == 0 then return {'blob'} end
local t = key('t', ref)
local old = call('HGET', t, 'b')
if old and old ~= '' then call('DEL', key('e', old)) end
if blob ~= '' then call('PERSIST', key('e', blob)) end
if after > 0 then time = NOW + after elseif time == 0 then time = NOW end
call('HSET', t, 'p', purpose, 'd', payload, 'b', blob, 'du', time, 'f', call('INCR', base .. ':fence'))
call('SADD', key('th', homeof(ref)), ref)
due('timer:' .. ref, time)
return {'ok'}
