#!lua
-- sweep: does to sessions what a rule says, where it still holds.
--
-- KEYS[1] tag of the sessions' partition
-- ARGV    rule (suspend|expire|delete), age ms, id for the steps in other
--         partitions and for what is left to be cleaned up, count, that many sids
-- Returns {forwards, sid, ...}
local rule, cutoff, id = arg(), NOW - int(), arg()
local out = {{}}
for i = 1, int() do
  local s = load(arg())
  if s and sweepable(s, rule, cutoff) then
    if rule == 'delete' then delete(s, id .. i .. '-')
    elseif rule == 'expire' then expire(s, id .. i .. '-')
    else
      suspend(s)
      save(s)
    end
    out[#out + 1] = s.id
  end
end
out[1] = forwards()
return out
