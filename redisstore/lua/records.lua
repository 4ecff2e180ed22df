#!lua flags=no-writes
-- records: reads records of a partition.
--
-- KEYS[1] tag of the partition
-- ARGV    sid...
-- Returns {record or 0 if there is none, ...}
local out = {}
for i = 2, #ARGV do out[i - 1] = readrecord(ARGV[i]) or 0 end
return out
