#!lua
-- again: opens the session's last turn once more.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, dedupe key, its ms, claim ms (0: no), nonce, known session,
--         known seq, collect's maximum, tail's maximum
-- Returns {dup} | {missing} | {nothing} | {state, sid, state, status} | {due}
--         | {turn, turn}
local sid, dedupe, ttl, lease, nonce, knownsid, knownseq = arg(), arg(), arg(), int(), arg(), arg(), int()
local limits = {collect = int(), tail = int()}
if seen(once(sid, dedupe)) then return {'dup'} end
local s = load(sid)
if not s then return {'missing'} end
if s.st == 'expired' or open(s) or s.qn > 0 then return {'state', s.id, s.st, s.su} end
if not s.la then return {'nothing'} end
remember(once(sid, dedupe), 0, sid, ttl)
if s.ld then unbury(s.ld) end
s.ld = nil
touch(s)
reopen(s, unpackturn(s.la))
if lease > 0 then
  return {'turn', begin(s, nonce, lease, knownsid == sid and knownseq or 0, limits)}
end
save(s)
return {'due'}
