#!lua
-- enqueue: rows for one surface that belong to no session.
--
-- KEYS[1] tag of the surface's home partition
-- ARGV    dedupe key, its ms, rows (see readrows), send ms (0: no), nonce
-- Returns {dup} | {blob} | {ok, lanes taken}
local dedupe, ttl = arg(), arg()
local rows, send, nonce = readrows(), int(), arg()
if seen(once(rows[1].surface, dedupe)) then return {'dup'} end
local fault = missingblob(rows)
if fault then return {fault} end
remember(once(rows[1].surface, dedupe), 0, '', ttl)
pushrows(rows, '', {}, send > 0)
return {'ok', takelanes(rows, nonce, send)}
