#!lua
-- user_role: gives a user a role.
--
-- KEYS[1] tag of the user's partition
-- ARGV    user, role
-- Returns {moved, user} | {ok, user, further identities, role}
local user, role = arg(), arg()
local on = call('GET', key('u', user))
if on then return {'moved', on} end
if role == '' then call('HDEL', key('U', user), 'rl')
else call('HSET', key('U', user), 'rl', role) end
return {'ok', unpack(changeduser(user))}
