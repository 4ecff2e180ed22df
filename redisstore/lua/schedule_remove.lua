#!lua
-- schedule_remove: removes a schedule, its timer and its runs.
--
-- KEYS[1] tag of the schedule's partition
-- ARGV    id, ref of its timer
-- Returns 1, or 0 if there is none
local id, ref = arg(), arg()
local by = call('HGET', key('g', id), 'by')
if not by then return 0 end
call('DEL', key('g', id), key('gr', id), key('gz', id), key('t', ref))
call('ZREM', base .. ':x:g', id)
call('ZREM', key('x:g', by), id)
rest('timer:' .. ref)
return 1
