#!lua
-- move_from: takes from the old chat what the new one has now.
--
-- KEYS[1] tag of the old chat's partition
-- ARGV    chat, session (empty: it keeps its own)
-- Returns 1
local chat, sid = arg(), arg()
call('DEL', key('ch', chat))
if sid ~= '' then unbind(chat, sid) end
return 1
