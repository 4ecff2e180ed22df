#!lua
-- timer_end: removes a timer that was fired.
--
-- KEYS[1] tag of its home's partition
-- ARGV    ref, fence
-- Returns 1, or 0 if it is not there or was set anew
local ref, fence = arg(), int()
if tonumber(call('HGET', key('t', ref), 'f') or 0) ~= fence then return 0 end
endtimer(ref)
return 1
