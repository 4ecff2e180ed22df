#!lua
-- stop: asks the open turn to stop.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid
-- Returns {missing} | {none} | {asked}
local s = load(arg())
if not s then return {'missing'} end
if not open(s) then return {'none'} end
if not s.sp then
  s.sp = 1
  save(s)
end
call('SPUBLISH', base .. ':wake', 'stop:' .. s.id)
return {'asked'}
