#!lua
-- commit: ends a lease, and with done or park its turn.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, epoch, nonce, outcome (done|unanswered|again|park|hand_back),
--         after ms, reason, id for a dead letter, entries (see readentries), metadata's
--         maximum in bytes, patch (see readpatch), rows (see readrows), send ms
--         (0: leave the lanes), lanes' nonce, next's lease ms (0: no), next's
--         nonce, collect's maximum, tail's maximum
-- Returns {fenced} | {target} | {blob} | {metadata}
--         | {ok, now ms, {seq, parent, ...}, lanes taken, forwards, turn or 0}
local sid, epoch, nonce, outcome, after, reason, deadid = arg(), int(), arg(), arg(), int(), arg(), arg()
local list = readentries()
local metamax, patch = int(), readpatch()
local rows, send, sendnonce = readrows(), int(), arg()
local lease, nextnonce = int(), arg()
local limits = {collect = int(), tail = int()}

local s = load(sid)
if fenced(s, epoch, nonce) then return {'fenced'} end
local fault = wrong(s, list) or missingblob(rows)
if fault then return {fault} end
local change = patched(sid, patch, metamax)
if not change then return {'metadata'} end

local seqs = writeall(s, list)
applypatch(s, change)
pushrows(rows, sid, seqs, send > 0)

local known = s.kn
local over = outcome == 'done' or outcome == 'unanswered' or outcome == 'park'
if over then
  if outcome == 'done' then s.tc = s.tc + 1
  elseif outcome == 'park' then bury(s, deadid, reason) end
  endturn(s)
  s.ld = outcome == 'park' and deadid or nil
elseif outcome == 'hand_back' then
  s.at = s.at - 1
end
s.no = nil
s.un = nil
local lanes = takelanes(rows, sendnonce, send)

if over and lease > 0 and s.qd <= NOW and s.qn > 0 then
  return {'ok', NOW, seqs, lanes, forwards(), begin(s, nextnonce, lease, known, limits)}
end
setstatus(s, (s.st == 'suspended' or s.st == 'expired') and 'inactive' or 'idle')
save(s)
if over then wake(s)
else due('turn:' .. sid, NOW + after) end
return {'ok', NOW, seqs, lanes, forwards(), 0}
