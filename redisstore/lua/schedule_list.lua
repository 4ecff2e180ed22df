#!lua flags=no-writes
-- schedule_list: the schedules of a partition, by id.
--
-- KEYS[1] tag of the partition
-- ARGV    maker (empty: all), id they stand behind (empty: from the first), at
--         most how many
-- Returns {now, {id, fields of g}, ...}
local by, after, limit = arg(), arg(), int()
local index = by == '' and base .. ':x:g' or key('x:g', by)
local out = {NOW}
for _, id in ipairs(call('ZRANGE', index, after == '' and '-' or '(' .. after, '+', 'BYLEX', 'LIMIT', 0, limit)) do
  out[#out + 1] = {id, unpack(call('HMGET', key('g', id), 'by', 'def', 'st', 'v', 'cr'))}
end
return out
