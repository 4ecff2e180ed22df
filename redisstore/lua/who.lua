#!lua flags=no-writes
-- who: reads the user of an identity.
--
-- KEYS[1] tag of the identity's partition
-- ARGV    identity
-- Returns {moved, user} | {ok, user, further identities, role}
local identity = arg()
local on = call('GET', key('u', identity))
if on then return {'moved', on} end
return {'ok', unpack(readuser(identity))}
