#!lua flags=no-writes
-- jobs: the names of a partition's jobs.
--
-- KEYS[1] tag of the partition
-- ARGV    none
-- Returns {name, ...}
local out, cursor = {}, '0'
repeat
  local page = call('ZSCAN', base .. ':due', cursor, 'MATCH', 'job:*', 'COUNT', 1000)
  cursor = page[1]
  for i = 1, #page[2], 2 do out[#out + 1] = page[2][i]:sub(5) end
until cursor == '0'
return out
