#!lua flags=no-writes
-- dump_key: reads a dedupe key.
--
-- KEYS[1] tag of its partition
-- ARGV    its name behind d:
-- Returns {missing} | {ok, what it was used for (see seen), its end in ms}
local k = key('d', arg())
local value = call('GET', k)
local time = value and call('PEXPIRETIME', k)
if not value or time <= NOW then return {'missing'} end
return {'ok', value, time}
