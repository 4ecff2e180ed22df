#!lua flags=no-writes
-- move_read: what a chat has that is about to move.
--
-- KEYS[1] tag of the chat's partition
-- ARGV    chat
-- Returns {by or 0, session or 0}
local chat = arg()
return {call('GET', key('ch', chat)) or 0, boundto(chat) or 0}
