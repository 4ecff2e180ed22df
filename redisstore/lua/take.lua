#!lua
-- take: takes a lane and its first row.
--
-- KEYS[1] tag of the surface's home partition
-- ARGV    surface, nonce, ms
-- Returns {nothing} | {busy} | {ok, delivery}
local surface, nonce, duration = arg(), arg(), int()
local delivery, fault = takelane(surface, nonce, duration)
if not delivery then return {fault} end
return {'ok', delivery}
