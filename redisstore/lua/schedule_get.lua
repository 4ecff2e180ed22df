#!lua flags=no-writes
-- schedule_get: reads a schedule.
--
-- KEYS[1] tag of the schedule's partition
-- ARGV    id
-- Returns {missing} | {ok, {id, fields of g}, now}
local id = arg()
local h = call('HMGET', key('g', id), 'by', 'def', 'st', 'v', 'cr')
if not h[1] then return {'missing'} end
return {'ok', {id, unpack(h)}, NOW}
