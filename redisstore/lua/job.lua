#!lua
-- job: does a piece of what was too much for one step. job:<name> is due until
-- it is done.
--
-- KEYS[1] tag of its partition
-- ARGV    name (blobs/<id> or merge/<user>)
-- Returns 1 if some is left, else 0
local name = arg()
local kind, id = name:match('^(%a+)/(.*)$')
local left
if kind == 'blobs' then left = freeblobs(key('jb', id)) else left = mergesome(id) end
if not left then rest('job:' .. name) end
return left and 1 or 0
