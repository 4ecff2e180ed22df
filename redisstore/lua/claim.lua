#!lua
-- claim: takes a session's lease and the messages that wait.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, nonce, lease ms, known session, known seq, collect's maximum,
--         tail's maximum
-- Returns {missing} | {busy} | {nothing} | {turn, turn}
local sid, nonce, lease, knownsid, knownseq = arg(), arg(), int(), arg(), int()
local limits = {collect = int(), tail = int()}
local s = load(sid)
if not s then return {'missing'} end
if held(s) then return {'busy'} end
if not ready(s) then return {'nothing'} end
return {'turn', begin(s, nonce, lease, knownsid == sid and knownseq or 0, limits)}
