#!lua
-- lock_release: gives a lock back; its text, fence and time stay.
--
-- KEYS[1] tag of the lock's partition
-- ARGV    name, owner, fence
-- Returns {fenced} | {ok}
local name, owner, fence = arg(), arg(), arg()
local k = key('k', name)
local h = call('HMGET', k, 'o', 'f')
if h[1] ~= owner or h[2] ~= fence or lapsed(call('PEXPIRETIME', k)) then return {'fenced'} end
call('HDEL', k, 'o', 'un')
return {'ok'}
