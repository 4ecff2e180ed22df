#!lua flags=no-writes
-- find: the sessions of a partition that a query asks for, the newest first.
--
-- KEYS[1] tag of the partition
-- ARGV    first letters of the states, of the type (or empty), user, participant,
--         workspace (each may be empty), activity after this ms
--         (or empty), activity and id that stand before the first (or empty), how
--         many at most, how many to look at at most
-- Returns {1 if there may be more, activity and id of the last one looked at,
--         {activity, record}, ...}
local states, typ, user, participant, workspace = arg(), arg(), arg(), arg(), arg()
local after, at, last, need, budget = int(), int(), arg(), int(), int()

local function wanted(s)
  return (user == '' or userid(s) == user) and (workspace == '' or s.ws == workspace)
    and (participant == '' or takespart(s, participant))
    and states:find(s.st:sub(1, 1), 1, true) and (typ == '' or s.ty == typ)
end

-- Where somebody takes part who is not its user: these are not in any order.
local function guests()
  local list, out = {}, {}
  for _, sid in ipairs(call('SMEMBERS', key('ip', participant))) do
    local s = load(sid)
    if s and wanted(s) and (not after or s.ac > after)
      and (not at or sid ~= last and ahead(true, at, last, s.ac, sid)) then
      list[#list + 1] = s
    end
  end
  table.sort(list, function(a, b) return ahead(true, a.ac, a.id, b.ac, b.id) end)
  for _, s in ipairs(list) do
    out[#out + 1] = s.id
    out[#out + 1] = s.ac
  end
  return out
end

-- The most selective condition decides what is walked.
local types = typ == '' and 'dg' or typ
local keys, least, extra = indexes('i', states, types), nil, nil
local function consider(kind, name)
  least = least or cards(keys)
  local some = indexes(kind, states, types, name)
  local count = cards(some)
  if count <= least then keys, least = some, count end
end
if user ~= '' then consider('iu', user) end
if workspace ~= '' then consider('iw', workspace) end
if participant ~= '' and participant ~= user then
  local some, others = indexes('iu', states, types, participant), call('SCARD', key('ip', participant))
  local count = cards(some) + others
  least = least or cards(keys)
  -- Of very many others it is cheaper to look for some among all.
  if count <= least and (others <= 200 or others * count <= least * need) then
    keys, extra = some, others > 0 and guests() or nil
  end
end

local out, following = {1, at or 0, last}, walk(keys, true, at, last, after, need, extra)
while need > 0 and budget > 0 do
  local sid, activity = following()
  if not sid then
    out[1] = 0
    break
  end
  out[2], out[3], budget = activity, sid, budget - 1
  local text = call('GET', key('s', sid))
  local s = loaded(sid, text)
  if s and wanted(s) then
    need = need - 1
    out[#out + 1] = {activity, record(s, text)}
  end
end
return out
