#!lua
-- restore_run: writes the record of a schedule's run as it was.
--
-- KEYS[1] tag of the schedule's partition
-- ARGV    schedule, id, planned ms, body
-- Returns {ok}
local id, run, at, body = arg(), arg(), arg(), arg()
call('HSET', key('gr', id), run, body)
call('ZADD', key('gz', id), at, run)
return {'ok'}
