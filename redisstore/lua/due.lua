#!lua flags=no-writes
-- due: what is due in a partition, the longest due first, at most so many of
-- each kind. Where more of one kind are due than that, it looks behind them for
-- the others, four times as far: a partition is one of many, and what is due in
-- it is looked at several times a second.
--
-- KEYS[1] tag of the partition
-- ARGV    at most how many of a kind
-- Returns {member, time ms, ...}
local limit = int()
local out, seen = {}, {}
for page = 0, 3 do
  local some = call('ZRANGE', base .. ':due', '-inf', NOW, 'BYSCORE', 'LIMIT', page * limit, limit, 'WITHSCORES')
  for i = 1, #some, 2 do
    local kind = some[i]:match('^[^:]*')
    seen[kind] = (seen[kind] or 0) + 1
    if seen[kind] <= limit then
      out[#out + 1] = some[i]
      out[#out + 1] = some[i + 1]
    end
  end
  if #some < 2 * limit then break end
end
return out
