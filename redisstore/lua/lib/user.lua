-- user: people and their identities.
--
-- U:<user> is a hash, at the user's home: ids the identities after the first
-- (which is the user's id) by newlines, rl role, co the code to link, cu its
-- end in ms, jn who is joining with it. us is the set of the users that have a
-- role or several identities. u:<identity> is the user of an identity whose
-- user has another id; uc:<code> the user who was offered it.
local function readuser(user)
  local h = call('HMGET', key('U', user), 'ids', 'rl')
  return {user, h[1] or '', h[2] or ''}
end

-- Stores whether a user is listed, and tells that they are another one now.
local function changeduser(user)
  local u = readuser(user)
  if u[2] == '' and u[3] == '' then call('ZREM', base .. ':us', user)
  else call('ZADD', base .. ':us', 0, user) end
  call('SPUBLISH', base .. ':wake', 'who:' .. user)
  for id in u[2]:gmatch('[^\n]+') do call('SPUBLISH', base .. ':wake', 'who:' .. id) end
  return u
end

local function dropcode(user)
  local code = call('HGET', key('U', user), 'co')
  if code then call('DEL', key('uc', code)) end
  call('HDEL', key('U', user), 'co', 'cu', 'jn')
end

-- An identity belongs to another user than the one of its own id.
local function alias(identity, user)
  call('SET', key('u', identity), user)
  call('SPUBLISH', base .. ':wake', 'who:' .. identity)
end

-- A user gets another one's identities, who has become part of them: body is how
-- many partitions there are, then all identities, the former user's id first.
-- All partitions are told.
local function adopt(user, body, stepid)
  local on = call('GET', key('u', user))
  if on then
    forward('u:' .. on, stepid .. 'a', 'adopt', body)
    return
  end
  local partitions, list = body:match('^(%d+)\n(.*)$')
  local ids = call('HGET', key('U', user), 'ids')
  call('HSET', key('U', user), 'ids', (ids and ids ~= '') and ids .. '\n' .. list or list)
  dropcode(user)
  changeduser(user)
  local n = 0
  for id in list:gmatch('[^\n]+') do
    n = n + 1
    forward('u:' .. id, stepid .. n, 'alias', user)
  end
  local former = list:match('^[^\n]+')
  for i = 0, partitions - 1 do forward('p:' .. i, stepid .. 'p' .. i, 'merge', former .. '\n' .. user) end
end

-- In this partition's sessions a user is to stand in the place of a former one.
local function merge(body)
  local former, user = body:match('^([^\n]*)\n(.*)$')
  call('SET', key('rn', former), user)
  due('job:merge/' .. former, NOW)
end

-- Puts a user into a former one's place in a session.
local function rewrite(sid, former, user)
  local s = load(sid)
  if not s then return end
  delist(s)
  local whose, m = userid(s), key('m', sid)
  if whose == former then
    local cold = coldpart(sid)
    cold.us, whose = user, user
    savecold(sid, cold)
  end
  local place, other = call('ZSCORE', m, former), call('ZSCORE', m, user)
  local twice = other and (place or s.us == former) or place and s.us == user
  if s.us == former then
    s.us = user
    call('ZREM', m, user)
  elseif place then
    call('ZREM', m, former)
    if s.us ~= user then call('ZADD', m, math.min(place, other or place), user) end
  end
  if twice then s.pm, s.pr = s.pm - 1, s.pr + 1 end
  s.ui = s.us ~= whose and whose or nil
  call('SREM', key('ip', former), sid)
  if whose ~= user and takespart(s, user) then call('SADD', key('ip', user), sid)
  else call('SREM', key('ip', user), sid) end
  enlist(s)
  live(s, 's')
  save(s)
end

-- Does so in some sessions. Returns whether there may be more; if not, late
-- messages of the former user are the successor's for another hour.
local function mergesome(former)
  local user, left = renamed(former), 100
  local lists = indexes('iu', 'case', '', former)
  for _, k in ipairs(lists) do
    for _, sid in ipairs(left > 0 and call('ZRANGE', k, 0, left - 1) or {}) do
      rewrite(sid, former, user)
      call('ZREM', k, sid)
      left = left - 1
    end
  end
  for _, sid in ipairs(left > 0 and call('SRANDMEMBER', key('ip', former), left) or {}) do
    rewrite(sid, former, user)
    call('SREM', key('ip', former), sid)
    left = left - 1
  end
  if left < 1 then return true end
  call('PEXPIRE', key('rn', former), 3600000)
  return false
end
