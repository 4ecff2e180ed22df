#!lua flags=no-writes
-- dead_list: the newest dead letters of a partition.
--
-- KEYS[1] tag of the partition
-- ARGV    at most how many
-- Returns {id, {sid, at ms, why, attempts, seqs}, ...}
local out = {}
for _, id in ipairs(call('ZRANGE', base .. ':dead', 0, int() - 1, 'REV')) do
  out[#out + 1] = id
  out[#out + 1] = call('HMGET', key('dl', id), 'sid', 'at', 'why', 'n', 'seqs')
end
return out
