-- dead: parked turns.
--
-- dead is the set of their ids by time, ds:<sid> that of a session; dl:<id> a
-- hash: sid, at ms, why, n attempts, tn (how many entries had entered the tree
-- by then, without those that did because the turn ended), seqs, turn (see pack).
-- Parks the open turn.
local function bury(s, id, reason)
  local seqs = {}
  for i, it in ipairs(select(2, unpackturn(s.la))) do seqs[i] = it.seq end
  call('ZADD', base .. ':dead', NOW, id)
  call('SADD', key('ds', s.id), id)
  call('HSET', key('dl', id), 'sid', s.id, 'at', NOW, 'why', reason, 'n', s.at, 'tn', s.tn,
    'seqs', table.concat(seqs, ','), 'turn', s.la)
end

local function unbury(id)
  local sid = call('HGET', key('dl', id), 'sid')
  if sid then call('SREM', key('ds', sid), id) end
  call('ZREM', base .. ':dead', id)
  return call('DEL', key('dl', id))
end
