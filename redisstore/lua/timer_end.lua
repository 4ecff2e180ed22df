#!lua
-- timer_end: removes a timer.
--
-- KEYS[1] tag of its home's partition
-- ARGV    ref, fence (0: whatever its setting)
-- Returns 1, or 0 if it is not there or was set anew
local ref, fence = arg(), int()
local set = call('HGET', key('t', ref), 'f')
if not set or fence > 0 and tonumber(set) ~= fence then return 0 end
endtimer(ref)
return 1
