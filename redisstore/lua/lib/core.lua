-- core: what every operation begins with.
--
-- The operations are functions of one library, which a server loads once. What
-- the library keeps between two runs is set anew by enter, which comes before
-- each operation.
--
-- KEYS[1] is the partition's tag key; nothing is ever stored under it. While
-- a cluster moves its slot, the node therefore answers ASK before an operation
-- begins, and none ever runs on half a partition.
-- ARGV[1] is an offset to the server's clock in milliseconds (tests only);
-- the operation's own arguments follow: a list of lists is read in order with
-- arg(); where all have their fixed places, unpack costs less.
local call, base        -- redis.call, which is there only while one runs; KEYS[1]
local position, argv    -- of arg()
local OFFSET, NOW       -- ms
local forwarded         -- see lane

local function enter(keys, args)
  call, base, position, argv, forwarded = redis.call, keys[1], 1, args, {}
  local clock = call('TIME')
  OFFSET = tonumber(args[1])
  NOW = clock[1] * 1000 + math.floor(clock[2] / 1000) + OFFSET
end

local function arg()
  position = position + 1
  return argv[position]
end

local function int()
  position = position + 1
  return tonumber(argv[position])
end

local function key(kind, name)
  return base .. ':' .. kind .. ':' .. name
end

-- Where a dedupe key is kept: each surface has its own keys, and each session
-- those of what concerns no surface. home is the surface or the session. nil:
-- there is no key.
local function once(home, dedupe)
  return dedupe ~= '' and base .. ':d:' .. #home .. ':' .. home .. dedupe or nil
end

-- Whether a key's expiry, as PEXPIRETIME gives it, is past. The server removes
-- what has expired, but knows nothing of OFFSET.
local function lapsed(time)
  return OFFSET ~= 0 and time >= 0 and time <= NOW
end

-- What a key that once returned was used for: its value is "<seq> <session>",
-- or "> <session>" where the surface's session lives in another partition.
local function usedfor(k, value)
  if not value or lapsed(call('PEXPIRETIME', k)) then return nil end
  local seq, sid = value:match('^(%S+) (.*)$')
  return seq, sid
end

local function seen(k)
  return usedfor(k, k and call('GET', k))
end

local function remember(k, seq, sid, ttl)
  if k then call('SET', k, seq .. ' ' .. sid, 'PXAT', NOW + ttl) end
end

-- The due set: member kind:name by time in ms. The hint is only speed.
local function due(member, time)
  call('ZADD', base .. ':due', time, member)
  if time <= NOW then call('SPUBLISH', base .. ':wake', member) end
end

local function rest(member)
  call('ZREM', base .. ':due', member)
end
