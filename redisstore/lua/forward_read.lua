#!lua flags=no-writes
-- forward_read: the first steps that wait for another partition.
--
-- KEYS[1] tag of the partition they wait in
-- ARGV    target (o:<surface> or s:<session>), at most how many
-- Returns {"id\nop\nbody", ...}
local target = arg()
return call('LRANGE', key('f', target), 0, int() - 1)
