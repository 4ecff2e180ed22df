#!lua
-- timer_fire: takes a due timer.
--
-- KEYS[1] tag of its home's partition
-- ARGV    ref, claim ms
-- Returns {nothing} | {ok, purpose, blob, payload, due ms, fence}
local ref, duration = arg(), int()
local time = call('ZSCORE', base .. ':due', 'timer:' .. ref)
if not time or tonumber(time) > NOW then return {'nothing'} end
local h = call('HMGET', key('t', ref), 'p', 'b', 'd', 'du', 'f')
due('timer:' .. ref, NOW + duration)
return {'ok', h[1], h[2], h[3], tonumber(h[4]), tonumber(h[5])}
