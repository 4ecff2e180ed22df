#!lua flags=no-writes
-- dump_lock: reads a lock that has a text.
--
-- KEYS[1] tag of the lock's partition
-- ARGV    name
-- Returns {missing} | {ok, fence, data, its end in ms (0: none)}
local k = key('k', arg())
local h, expires = call('HMGET', k, 'f', 'd'), call('PEXPIRETIME', k)
if (h[2] or '') == '' or lapsed(expires) then return {'missing'} end
return {'ok', h[1], h[2], math.max(0, expires)}
