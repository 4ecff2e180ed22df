#!lua flags=no-writes
-- stale: the sessions of a partition that a sweep is for, the longest inactive
-- first.
--
-- KEYS[1] tag of the partition
-- ARGV    rule (suspend|expire|delete), age ms, activity and id that stand
--         before the first (or empty), how many at most, how many to look at at most
-- Returns {1 if there may be more, activity and id of the last one looked at,
--         activity, sid, ...}
local rule, cutoff, at, last, need, budget = arg(), NOW - int(), int(), arg(), int(), int()
local following = walk(indexes('i', rules[rule][1], rules[rule][2]), false, at, last, cutoff, need)
local out = {1, at or 0, last}
while need > 0 and budget > 0 do
  local sid, activity = following()
  if not sid then
    out[1] = 0
    break
  end
  out[2], out[3], budget = activity, sid, budget - 1
  local s = load(sid)
  if s and sweepable(s, rule, cutoff) then
    need = need - 1
    out[#out + 1] = activity
    out[#out + 1] = sid
  end
end
return out
