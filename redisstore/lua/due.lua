#!lua flags=no-writes
-- due: what is due in a partition, the longest due first.
--
-- KEYS[1] tag of the partition
-- ARGV    at most how many
-- Returns {member, time ms, ...}
return call('ZRANGE', base .. ':due', '-inf', NOW, 'BYSCORE', 'LIMIT', 0, int(), 'WITHSCORES')
