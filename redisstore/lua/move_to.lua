#!lua
-- move_to: gives a chat what another had, where it has nothing itself.
--
-- KEYS[1] tag of the new chat's partition
-- ARGV    chat, who allowed the old one (with a first byte: + for allowed, - if
--         it was not), the old one's session or empty, 1 if that lives elsewhere
-- Returns the session that the chat has now, or 0
local chat, by, sid, elsewhere = arg(), arg(), arg(), int() == 1
if by:sub(1, 1) == '+' then call('SET', key('ch', chat), by:sub(2), 'NX') end
local bound = boundto(chat)
if sid == '' or bound then return bound or 0 end
bind(chat, sid, elsewhere)
return sid
