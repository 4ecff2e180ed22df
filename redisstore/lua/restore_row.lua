#!lua
-- restore_row: puts a row at the end of its lane, unless it is there.
--
-- KEYS[1] tag of the surface's home partition
-- ARGV    surface, id, session or empty, seq of its entry, blob, payload, attempts
--         that were begun, maybe sent 0|1
-- Returns {blob} | {ok}
local surface, id, sid, seq, blob, payload, attempts, maybe = arg(), arg(), arg(), arg(), arg(), arg(), int(), arg()
for _, text in ipairs(call('LRANGE', key('o', surface), 0, -1)) do
  if parserow(text).id == id then return {'ok'} end
end
if blob ~= '' and call('PERSIST', key('e', blob)) == 0 then return {'blob'} end
pushrow(surface, row(id, sid, seq, blob, payload), false)
if attempts > 0 then call('HSET', key('oh', surface), 'at', attempts) end
if maybe == '1' then call('HSET', key('oh', surface), 'ms', 1) end
return {'ok'}
