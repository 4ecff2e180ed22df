-- walk: reading several indexes as one, in order of activity and id.
--
-- Whether a text stands before another, byte by byte (Lua's own comparison
-- follows the server's locale).
local function less(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- Whether an activity and id come before others: the newest and greatest
-- first, or the oldest and smallest.
local function ahead(newest, at, id, at2, id2)
  if at ~= at2 then return (at > at2) == newest end
  if newest then return less(id2, id) end
  return less(id, id2)
end

-- The present member of a stream and its activity; nil behind the last one.
local function frontof(st)
  while true do
    if st.pos > #st.buf then
      if st.over then return nil end
      local last = st.offset + st.size - 1
      if st.newest and not st.bounded then
        st.buf = call('ZRANGE', st.k, st.offset, last, 'REV', 'WITHSCORES')
      elseif st.newest then
        st.buf = call('ZRANGE', st.k, st.from, st.to, 'BYSCORE', 'REV', 'LIMIT', st.offset, st.size, 'WITHSCORES')
      else
        st.buf = call('ZRANGE', st.k, st.from, st.to, 'BYSCORE', 'LIMIT', st.offset, st.size, 'WITHSCORES')
      end
      st.over, st.pos, st.offset = #st.buf < 2 * st.size, 1, last + 1
      st.size = math.min(2 * st.size, 500)
    else
      local member, activity = st.buf[st.pos], tonumber(st.buf[st.pos + 1])
      -- Of the activity of the position, what stands before it is passed over.
      if activity ~= st.at or member ~= st.id and ahead(st.newest, st.at, st.id, activity, member) then
        return member, activity
      end
      st.pos = st.pos + 2
    end
  end
end

-- Reads indexes behind a position (at nil: from the first) and before a bound
-- (nil: to the last), about size at a time. Each call of what it returns gives
-- the next id and its activity; nil when there is none. more are further lists
-- {id, activity, ...}, each in order, or nil.
local function walk(keys, newest, at, id, bound, size, more)
  local streams = {}
  local from, to = at or (newest and '+inf' or '-inf'), bound and '(' .. bound or (newest and '-inf' or '+inf')
  for _, k in ipairs(keys) do
    streams[#streams + 1] = {k = k, newest = newest, bounded = at or bound, from = from, to = to, at = at, id = id,
      offset = 0, size = size, pos = 1, buf = {}}
  end
  for _, buf in ipairs(more or {}) do streams[#streams + 1] = {over = true, pos = 1, buf = buf} end
  return function()
    local best, bestid, bestat
    for i = #streams, 1, -1 do
      local st = streams[i]
      local member, activity = frontof(st)
      if not member then
        table.remove(streams, i)
      elseif not best or ahead(newest, activity, member, bestat, bestid) then
        best, bestid, bestat = st, member, activity
      end
    end
    if not best then return nil end
    best.pos = best.pos + 2
    return bestid, bestat
  end
end

-- The indexes of a kind (i, iu or iw) for each letter of states and, but for
-- iu, of types; name is whose, or nil.
local function indexes(kind, states, types, name)
  local keys, whose = {}, name and ':' .. name or ''
  for state in states:gmatch('.') do
    if kind == 'iu' then keys[#keys + 1] = base .. ':iu:' .. state .. whose
    else
      for typ in types:gmatch('.') do keys[#keys + 1] = base .. ':' .. kind .. ':' .. state .. typ .. whose end
    end
  end
  return keys
end

local function cards(keys)
  local sum = 0
  for _, k in ipairs(keys) do sum = sum + call('ZCARD', k) end
  return sum
end
