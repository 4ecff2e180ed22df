#!lua
-- lock: takes or renews a lock.
--
-- k:<name> is a hash: o owner, f fence, un until ms, d data. It expires, but
-- not while the lock is held; one that is kept for ever has no time. A new
-- fence is the time: it is above those of a lock of that name that has expired.
--
-- KEYS[1] tag of the lock's partition
-- ARGV    name, owner, ms, ms for which it is kept without a text
-- Returns {busy} | {ok, fence, data}
local name, owner, duration, kept = arg(), arg(), int(), int()
local k = key('k', name)
local h, expires = call('HMGET', k, 'o', 'un', 'f', 'd'), call('PEXPIRETIME', k)
if lapsed(expires) then
  call('DEL', k)
  h = {}
end
local fence = tonumber(h[3] or NOW - 1)
if h[1] ~= owner then
  if h[1] and tonumber(h[2]) > NOW then return {'busy'} end
  fence = fence + 1
end
call('HSET', k, 'o', owner, 'un', NOW + duration, 'f', fence)
local text = h[4] or ''
if text == '' then call('PEXPIREAT', k, NOW + math.max(kept, duration))
elseif expires >= 0 and expires < NOW + duration then call('PEXPIREAT', k, NOW + duration) end
return {'ok', fence, text}
