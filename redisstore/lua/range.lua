#!lua flags=no-writes
-- range: reads entries.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, from, to (both seqs, from 1), at most how many
-- Returns {missing} | {ok, the first one's seq, entries}
local s = load(arg())
if not s then return {'missing'} end
local from = math.max(int(), s.cl + 1)
local to = math.min(int(), from + int() - 1)
if to < from then return {'ok', from, {}} end
return {'ok', from, call('LRANGE', key('l', s.id), spot(s, from), spot(s, to))}
