#!lua
-- lock_save: stores a held lock's text.
--
-- KEYS[1] tag of the lock's partition
-- ARGV    name, owner, fence, text
-- Returns {fenced} | {ok}
local name, owner, fence, text = arg(), arg(), arg(), arg()
local k = key('k', name)
local h = call('HMGET', k, 'o', 'f')
if h[1] ~= owner or h[2] ~= fence then return {'fenced'} end
call('HSET', k, 'd', text)
return {'ok'}
