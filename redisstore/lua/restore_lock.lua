#!lua
-- restore_lock: stores a lock that nobody has, with its text.
--
-- KEYS[1] tag of the lock's partition
-- ARGV    name, fence, data, its end in ms (0: none)
-- Returns {ok}
local name, fence, data, expires = arg(), int(), arg(), int()
local k = key('k', name)
call('HSET', k, 'f', math.max(fence, call('HGET', k, 'f') or 0), 'd', data)
if expires > 0 then call('PEXPIREAT', k, expires)
else call('PERSIST', k) end
return {'ok'}
