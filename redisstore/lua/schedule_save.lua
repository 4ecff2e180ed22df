#!lua
-- schedule_save: creates or changes a schedule, sets its timer anew, and writes
-- runs.
--
-- g:<id> is a hash: by maker, def definition, st state, v version, cr created
-- ms. x:g is the set of the ids of a partition, x:g:<maker> those of a maker.
-- gr:<id> is a hash, the runs by their id; gz:<id> their order.
--
-- KEYS[1] tag of the schedule's partition
-- ARGV    id, version, maker, definition (empty: stays), state (empty: stays),
--         ref of its timer, purpose, due ms (0: none), runs kept, count of
--         runs, that many times: id, planned ms, body
-- Returns {missing} | {taken} | {ok, {id, fields of g}, now}
local id, version, by, def, state = arg(), arg(), arg(), arg(), arg()
local ref, purpose, time, kept, count = arg(), arg(), int(), int(), int()
local g = key('g', id)
local present = call('HGET', g, 'v')
if version == '0' and present or present and present ~= version then return {'taken'} end
if version ~= '0' and not present then return {'missing'} end
local fence = call('INCR', base .. ':fence')
call('HSET', g, 'v', fence)
if def ~= '' then call('HSET', g, 'def', def) end
if state ~= '' then call('HSET', g, 'st', state) end
if not present then
  call('HSET', g, 'by', by, 'cr', NOW)
  call('ZADD', base .. ':x:g', 0, id)
  call('ZADD', key('x:g', by), 0, id)
end
if time > 0 then
  call('HSET', key('t', ref), 'p', purpose, 'd', '', 'b', '', 'du', time, 'f', fence)
  due('timer:' .. ref, time)
else
  call('DEL', key('t', ref))
  rest('timer:' .. ref)
end
for _ = 1, count do
  local run, at, body = arg(), arg(), arg()
  call('HSET', key('gr', id), run, body)
  call('ZADD', key('gz', id), at, run)
end
local drop = call('ZRANGE', key('gz', id), 0, -kept - 1)
if #drop > 0 then
  call('ZREM', key('gz', id), unpack(drop))
  call('HDEL', key('gr', id), unpack(drop))
end
return {'ok', {id, unpack(call('HMGET', g, 'by', 'def', 'st', 'v', 'cr'))}, NOW}
