#!lua
-- dead_drop: forgets a dead letter.
--
-- KEYS[1] tag of its partition
-- ARGV    id
-- Returns 1, or 0 if there was none
return unbury(arg())
