#!lua
-- restore_schedule: writes a schedule as it was; its timer and its runs are not
-- part of it.
--
-- KEYS[1] tag of the schedule's partition
-- ARGV    id, maker, definition, state, version, created ms
-- Returns {ok}
local id, by, def, state, version, created = arg(), arg(), arg(), arg(), int(), arg()
call('HSET', key('g', id), 'by', by, 'def', def, 'st', state, 'v', version, 'cr', created)
call('ZADD', base .. ':x:g', 0, id)
call('ZADD', key('x:g', by), 0, id)
raisefence(version)
return {'ok'}
