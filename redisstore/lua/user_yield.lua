#!lua
-- user_yield: makes a user part of another one. Whom somebody is joining just
-- now does not: so no two become part of each other.
--
-- KEYS[1] tag of the user's partition
-- ARGV    user, the other one, id for the steps in other partitions, number of
--         partitions
-- Returns {moved, user} | {busy} | {ok, forwards}
local user, other, stepid, partitions = arg(), arg(), arg(), arg()
local on = call('GET', key('u', user))
if on then return {'moved', on} end
local h = call('HMGET', key('U', user), 'ids', 'jn', 'cu')
if h[2] and tonumber(h[3]) > NOW then return {'busy'} end
dropcode(user)
call('DEL', key('U', user))
changeduser(user)
alias(user, other)
local list = (h[1] and h[1] ~= '') and user .. '\n' .. h[1] or user
forward('u:' .. other, stepid, 'adopt', partitions .. '\n' .. list)
return {'ok', forwards()}
