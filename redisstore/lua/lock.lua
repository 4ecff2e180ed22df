#!lua
-- lock: takes or renews a lock.
--
-- k:<name> is a hash: o owner, f fence, un until ms, d data.
--
-- KEYS[1] tag of the lock's partition
-- ARGV    name, owner, ms
-- Returns {busy} | {ok, fence, data}
local name, owner, duration = arg(), arg(), int()
local k = key('k', name)
local h = call('HMGET', k, 'o', 'un', 'f', 'd')
local fence = tonumber(h[3] or 0)
if h[1] ~= owner then
  if h[1] and tonumber(h[2]) > NOW then return {'busy'} end
  fence = fence + 1
end
call('HSET', k, 'o', owner, 'un', NOW + duration, 'f', fence)
return {'ok', fence, h[4] or ''}
