#!lua flags=no-writes
-- schedule_runs: the newest runs of a schedule.
--
-- KEYS[1] tag of the schedule's partition
-- ARGV    id, at most how many
-- Returns {missing} | {ok, {id, planned ms, body}, ...}
local id, limit = arg(), int()
if call('EXISTS', key('g', id)) == 0 then return {'missing'} end
local out = {'ok'}
local list = call('ZRANGE', key('gz', id), 0, limit - 1, 'REV', 'WITHSCORES')
for i = 1, #list, 2 do
  out[#out + 1] = {list[i], tonumber(list[i + 1]), call('HGET', key('gr', id), list[i])}
end
return out
