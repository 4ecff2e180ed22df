#!lua
-- forward_done: forgets steps that the other partition has taken.
--
-- KEYS[1] tag of the partition they waited in
-- ARGV    target, count, then that many ids, as they were read
-- Returns how many still wait
local target = arg()
local f, done = key('f', target), {}
for _ = 1, int() do done[arg()] = true end
local head = call('LINDEX', f, 0)
while head and done[head:match('^[^\n]*')] do
  call('LPOP', f)
  head = call('LINDEX', f, 0)
end
if not head then rest('fwd:' .. target) end
return call('LLEN', f)
