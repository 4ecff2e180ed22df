#!lua flags=no-writes
-- user_list: the users of a partition who have a role or several identities.
--
-- KEYS[1] tag of the partition
-- ARGV    id they stand behind (or empty), at most how many
-- Returns {user, further identities, role, ...}
local after, out = arg(), {}
for _, user in ipairs(call('ZRANGE', base .. ':us', after == '' and '-' or '(' .. after, '+', 'BYLEX', 'LIMIT', 0, int())) do
  for _, part in ipairs(readuser(user)) do out[#out + 1] = part end
end
return out
