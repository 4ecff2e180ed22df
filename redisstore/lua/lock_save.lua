#!lua
-- lock_save: stores a held lock's text.
--
-- KEYS[1] tag of the lock's partition
-- ARGV    name, owner, fence, text, ms for which it is kept (0: for ever)
-- Returns {fenced} | {ok}
local name, owner, fence, text, keep = arg(), arg(), arg(), arg(), int()
local k = key('k', name)
local h = call('HMGET', k, 'o', 'f', 'un')
if h[1] ~= owner or h[2] ~= fence or lapsed(call('PEXPIRETIME', k)) then return {'fenced'} end
call('HSET', k, 'd', text)
if keep > 0 then call('PEXPIREAT', k, math.max(NOW + keep, h[3]))
else call('PERSIST', k) end
return {'ok'}
