#!lua flags=no-writes
-- find: where the sessions of a partition stand that a query asks for, the
-- newest first.
--
-- The indexes tell all that a query can ask for but two things: that a session
-- is direct (those without a type stand among them), and that its user takes
-- part in it. Both are so nearly always; whoever asks looks at the
-- records and passes over the others.
--
-- KEYS[1] tag of the partition
-- ARGV    first letters of the states, of the type (or empty), user, participant,
--         workspace (each may be empty), activity after this ms
--         (or empty), activity and id that stand before the first (or empty), how
--         many at most, how many to look at at most
-- Returns {1 if there may be more, activity and id of the last one looked at,
--         activity, sid, ...}
local states, typ, user, participant, workspace = arg(), arg(), arg(), arg(), arg()
local after, at, last, need, budget = int(), int(), arg(), int(), int()
local types = typ == '' and 'dg' or typ

-- Lists of indexes: a session must stand in one of each. The indexes of a
-- user's and of a workspace's sessions are part of those of all.
local conditions = {}
if user ~= '' then conditions[1] = indexes('iu', states, types, user) end
if workspace ~= '' then conditions[#conditions + 1] = indexes('iw', states, types, workspace)
elseif user == '' or typ ~= '' then conditions[#conditions + 1] = indexes('i', states, types) end

-- The most selective condition decides what is walked.
local walked, least = conditions[1], nil
local function count()
  for _, keys in ipairs(conditions) do
    local count = cards(keys)
    if not least or count < least then walked, least = keys, count end
  end
end
if #conditions > 1 then count() end

-- Those of some sessions that stand in an index of each list but the one that
-- is walked, and their activity; nil: there is no other list. A session stands
-- in one index of a list at most.
local function standing(ids)
  local activity
  for _, keys in ipairs(conditions) do
    if keys ~= walked then
      local kept = {}
      activity = {}
      for _, k in ipairs(keys) do
        local others = {}
        for i, score in ipairs(#ids > 0 and call('ZMSCORE', k, unpack(ids)) or {}) do
          local sid = ids[i]
          if score then
            activity[sid] = tonumber(score)
            kept[#kept + 1] = sid
          else
            others[#others + 1] = sid
          end
        end
        ids = others
      end
      ids = kept
    end
  end
  return activity
end

-- The newest sessions behind the position in which somebody takes part who is
-- not its user: a list for each index of the first condition. Those they take
-- part in are in no order; the server intersects. Where that is the only
-- condition, isguest says that they need not be looked at again, and as many as
-- are needed do.
local isguest = {}
local function guests()
  local lists, only = {}, #conditions == 1
  for _, k in ipairs(conditions[1]) do
    local all, out = call('ZINTER', 2, key('ip', participant), k, 'WEIGHTS', 0, 1, 'WITHSCORES'), {}
    for i = #all - 1, 1, -2 do
      local sid, ac = all[i], tonumber(all[i + 1])
      if after and ac <= after or only and #out == 2 * need then break end
      if not at or sid ~= last and ahead(true, at, last, ac, sid) then
        isguest[sid] = only
        out[#out + 1] = sid
        out[#out + 1] = ac
      end
    end
    lists[#lists + 1] = out
  end
  return lists
end

local extra
if participant ~= '' and participant ~= user then
  local own, others = indexes('iu', states, types, participant), call('SCARD', key('ip', participant))
  local all = cards(own) + others
  if all > 50 and not least then count() end
  -- Of very many others it is cheaper to look for some among all.
  if all <= 50 or all <= least and (others <= 200 or others * all <= least * need) then
    walked = own
    extra = others > 0 and guests() or nil
    if typ == '' and user == '' and workspace == '' then conditions = {} end -- their own are among all
  end
end

local out, size = {1, at or 0, last}, need
local following = walk(walked, true, at, last, after, math.ceil(need / 2), extra)
while need > 0 and budget > 0 and out[1] == 1 do
  local ids, times, unknown = {}, {}, {}
  for i = 1, math.min(size, budget) do
    local sid, activity = following()
    if not sid then
      out[1] = 0
      break
    end
    ids[i], times[i] = sid, activity
    if not isguest[sid] then unknown[#unknown + 1] = sid end
  end
  local activity = standing(unknown)
  for i, sid in ipairs(ids) do
    out[2], out[3] = times[i], sid
    if isguest[sid] or not activity or activity[sid] then
      out[#out + 1] = times[i]
      out[#out + 1] = sid
      need = need - 1
      if need == 0 then
        if i < #ids then out[1] = 1 end
        break
      end
    end
  end
  budget, size = budget - #ids, math.min(2 * size, 100)
end
return out
