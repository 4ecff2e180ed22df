#!lua
-- forward_apply: takes steps that another partition has forwarded, each once.
--
-- KEYS[1] tag of the target's partition
-- ARGV    target (o:<surface>, s:<session>, u:<user or identity> or
--         p:<partition>), how long a step is remembered
--         in ms, count, then that many times id, op, body; send ms (0: no), nonce
-- Returns {delivery or 0, forwards}
local target, ttl = arg(), arg()
local kind, name = target:match('^(%a):(.*)$')
for _ = 1, int() do
  local id, op, body = arg(), arg(), arg()
  if call('SET', key('fs', id), '1', 'NX', 'PX', ttl) then
    if op == 'leave' then leave(name, body)
    elseif op == 'drop' then dropsurface(name, body)
    elseif op == 'join' then join(name, body, id)
    elseif op == 'receipt' then deliver(name, body)
    elseif op == 'unbind' then unbind(name, body)
    elseif op == 'alias' then alias(name, body)
    elseif op == 'adopt' then adopt(name, body, id)
    elseif op == 'merge' then merge(body)
    elseif op == 'row' then
      local blob = parserow(body).blob
      if blob ~= '' then call('PERSIST', key('e', blob)) end
      pushrow(name, body, false)
    end
  end
end
local send, nonce = int(), arg()
return {kind == 'o' and send > 0 and takelane(name, nonce, send) or 0, forwards()}
