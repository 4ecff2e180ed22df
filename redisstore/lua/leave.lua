#!lua
-- leave: takes a user off a session's participants.
--
-- KEYS[1] tag of the session's partition
-- ARGV    sid, user
-- Returns {missing} | {ok, record}
local s, user = load(arg()), renamed(arg())
if not s then return {'missing'} end
if not takespart(s, user) then return {'ok', readrecord(s.id)} end
part(s, user)
return {'ok', record(s, save(s))}
