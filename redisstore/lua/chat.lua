#!lua
-- chat: allows a chat, takes that back, or reads it.
--
-- ch:<chat> is a text: when in ms, a space and who allowed it.
--
-- KEYS[1] tag of the chat's partition
-- ARGV    chat, list|unlist|read, by
-- Returns 1 if it is allowed now, else 0
local chat, op, by = arg(), arg(), arg()
local k = key('ch', chat)
if op == 'list' then call('SET', k, NOW .. ' ' .. by, 'NX')
elseif op == 'unlist' then call('DEL', k) end
return call('EXISTS', k)
