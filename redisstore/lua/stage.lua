#!lua
-- stage: keeps entries of an import until it is whole.
--
-- KEYS[1] tag of the session's partition
-- ARGV    name, how long it is kept without more in ms, entries as stored
-- Returns how many there are
local k, ttl = key('il', arg()), int()
local count = call('RPUSH', k, unpack(ARGV, 4))
call('PEXPIRE', k, ttl)
return count
