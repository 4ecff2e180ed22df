#!lua
-- ping: whether the partition can be written to.
--
-- KEYS[1] tag of the partition
-- ARGV    none
-- Returns 1
call('SET', base .. ':ping', NOW, 'PX', 1000)
return 1
