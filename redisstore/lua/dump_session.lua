#!lua flags=no-writes
-- dump_session: reads a session with what waits in it.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid
-- Returns {missing} | {ok, record, when its turn may be taken up in ms (0: at
--         once, or it has none), items that wait, seqs that wait}
local s = load(arg())
if not s then return {'missing'} end
local time = tonumber(call('ZSCORE', base .. ':due', 'turn:' .. s.id) or 0)
if s.no or time <= NOW then time = 0 end
return {'ok', readrecord(s.id), time, call('LRANGE', key('q', s.id), 0, -1), call('LRANGE', key('w', s.id), 0, -1)}
