#!lua
-- renew: extends leases of one partition.
--
-- KEYS[1] tag of the sessions' partition
-- ARGV    extension ms, count, then that many times sid, epoch, nonce
-- Returns for each: 0 lost, 1 held, 2 held and asked to stop
local extend, out = int(), {}
for i = 1, int() do
  local sid, epoch, nonce = arg(), int(), arg()
  local s = load(sid)
  if fenced(s, epoch, nonce) then
    out[i] = 0
  else
    s.un = NOW + extend
    store(s)
    call('ZADD', base .. ':due', NOW + extend, 'turn:' .. sid)
    out[i] = s.sp and 2 or 1
  end
end
return out
