#!lua
-- meta: the number of partitions and the version of the layout, written once.
--
-- KEYS[1] tag of the first partition, the same for every number of them
-- ARGV    partitions, version
-- Returns {partitions, version} as stored
local k = base .. ':meta'
call('HSETNX', k, 'partitions', arg())
call('HSETNX', k, 'schema', arg())
return call('HMGET', k, 'partitions', 'schema')
