#!lua
-- append: entries of a running turn.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, epoch, nonce, entries (see readentries)
-- Returns {fenced} | {target} | {blob} | {ok, now ms, {seq, parent, ...}}
local sid, epoch, nonce = arg(), int(), arg()
local list = readentries()
local s = load(sid)
if fenced(s, epoch, nonce) then return {'fenced'} end
local fault = wrong(s, list)
if fault then return {fault} end
local seqs = writeall(s, list)
if #list > 0 then save(s) end
return {'ok', NOW, seqs}
