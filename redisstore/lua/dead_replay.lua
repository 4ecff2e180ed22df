#!lua
-- dead_replay: makes a dead letter due again. In place, while nothing has
-- entered the tree since; else its messages are written anew and wait.
--
-- KEYS[1] tag of its partition
-- ARGV    id
-- Returns {missing} | {state, sid, state, status} | {ok}
local id = arg()
local x = call('HMGET', key('dl', id), 'sid', 'tn', 'turn')
local s = x[1] and load(x[1])
if not s then return {'missing'} end
if s.st == 'expired' then return {'state', s.id, s.st, s.su} end
local tip, list = unpackturn(x[3])
unbury(id)
if s.ld == id then s.ld = nil end
if s.tn == tonumber(x[2]) and not open(s) and s.qn == 0 then
  reopen(s, tip, list)
else
  for _, it in ipairs(list) do
    it.seq = copy(s, it.seq)
    call('RPUSH', key('q', s.id), item(it))
    s.qn = s.qn + 1
  end
  live(s, 'e' .. s.n)
  wake(s)
end
save(s)
return {'ok'}
