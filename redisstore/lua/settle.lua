#!lua
-- settle: ends one attempt to deliver.
--
-- KEYS[1] tag of the surface's home partition
-- ARGV    surface, nonce, delivery id, again (1: the row stays), after ms,
--         maybe sent 0|1, uncounted 0|1, receipt (the payload of an entry),
--         1 if the row's session is in this partition, claim ms for the next
--         row (0: no), its nonce
-- Returns {fenced} | {ok, forwards, delivery or 0}
local surface, nonce, id, again, after, maybe, uncounted, receipt, mine, duration, nextnonce = unpack(ARGV, 2)
again, duration = again == '1', tonumber(duration)
local o, oh = key('o', surface), key('oh', surface)
local texts = call('LRANGE', o, 0, 1) -- this row and the next
local h = call('HMGET', oh, 'no', 'at')
local r = texts[1] and parserow(texts[1])
if not r or h[1] ~= nonce or r.id ~= id then return {'fenced'} end

if again then
  call('HDEL', oh, 'no', 'un')
  call('HSET', oh, 'at', h[2] - uncounted, 'na', NOW + after)
  if maybe == '1' then call('HSET', oh, 'ms', 1) end
  due('lane:' .. surface, NOW + after)
else
  call('LPOP', o)
  call('DEL', oh)
  if r.blob ~= '' then call('DEL', key('e', r.blob)) end
  if not texts[2] then rest('lane:' .. surface)
  elseif duration == 0 then due('lane:' .. surface, NOW) end
  if r.sid ~= '' and mine == '1' then deliver(r.sid, receipt)
  elseif r.sid ~= '' then forward('s:' .. r.sid, 'r' .. id, 'receipt', receipt) end
end
local following = duration > 0 and (again or texts[2]) and takelane(surface, nextnonce, duration, not again and texts[2])
return {'ok', forwards(), following or 0}
