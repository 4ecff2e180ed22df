#!lua
-- user_offer: makes a code with which another identity can join a user.
--
-- KEYS[1] tag of the user's partition
-- ARGV    user, code, how long it is good in ms
-- Returns {moved, user} | {ok}
local user, code, ttl = arg(), arg(), int()
local on = call('GET', key('u', user))
if on then return {'moved', on} end
dropcode(user)
call('HSET', key('U', user), 'co', code, 'cu', NOW + ttl)
call('SET', key('uc', code), user, 'PXAT', NOW + ttl)
return {'ok'}
