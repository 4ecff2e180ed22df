#!lua
-- user_reserve: keeps a code for one who is about to join with it.
--
-- KEYS[1] tag of the partition of the user who was offered it
-- ARGV    code, user who joins, 1 to keep it, 0 to give it back
-- Returns {missing} | {taken} | {ok, user}
local code, joining, keep = arg(), arg(), arg() == '1'
local user = call('GET', key('uc', code))
local h = user and call('HMGET', key('U', user), 'co', 'cu', 'jn')
if not h or h[1] ~= code or tonumber(h[2]) <= NOW then return {'missing'} end
if user == joining then return {'taken'} end
if h[3] and h[3] ~= joining then return {'missing'} end
if keep then call('HSET', key('U', user), 'jn', joining)
else call('HDEL', key('U', user), 'jn') end
return {'ok', user}
