#!lua
-- move_session: the session's surfaces name the new chat in the old one's place.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, old chat, new chat
-- Returns 1, or 0 if there is no such session
local s, from, to = load(arg()), arg(), arg()
if not s then return 0 end
surfaces(s.id, to, from)
save(s)
return 1
