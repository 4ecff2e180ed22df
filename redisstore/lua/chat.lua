#!lua
-- chat: allows a chat, or takes that back.
--
-- ch:<chat> is a text: when in ms, a space and who allowed it.
--
-- KEYS[1] tag of the chat's partition
-- ARGV    chat, list|unlist, by
-- Returns 1
local chat, op, by = arg(), arg(), arg()
local k = key('ch', chat)
if op == 'list' then call('SET', k, NOW .. ' ' .. by, 'NX')
else call('DEL', k) end
return 1
