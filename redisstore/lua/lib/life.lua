-- life: attaching, ending and removing sessions.
--
-- A surface of another partition joins a session, which revives where the
-- body's first letter is r; if it cannot, the surface is free again.
local function join(sid, body, stepid)
  local surface, s = body:sub(2), load(sid)
  if not s or s.st == 'expired' then
    forward('o:' .. surface, stepid .. 'u', 'unbind', sid)
    return
  end
  local changed = surfaces(sid, surface)
  if body:sub(1, 1) == 'r' then
    touch(s)
    changed = true
  end
  if changed then save(s) end
end

-- A surface's session changes: the one it had loses it, sid has it. Returns
-- the one it had, or empty.
local function rebind(surface, sid, elsewhere, stepid)
  local old, away = boundto(surface)
  if old == sid then return '' end
  bind(surface, sid, elsewhere)
  if not old then return '' end
  if away then forward('s:' .. old, stepid .. 'd', 'drop', surface)
  else dropsurface(old, surface) end
  return old
end

-- All surfaces leave a session: those at home here at once, the others by steps.
local function freeall(s, stepid)
  for i, surface in ipairs(coldpart(s.id).sf or {}) do
    local sid, away = boundto(surface)
    if sid == s.id and not away then call('DEL', key('b', surface))
    else forward('o:' .. surface, stepid .. i, 'unbind', s.id) end
  end
end

local function expire(s, stepid)
  if s.st == 'expired' then return end
  freeall(s, stepid)
  local cold = coldpart(s.id)
  cold.sf = nil
  savecold(s.id, cold)
  become(s, 'expired')
  setstatus(s, 'inactive')
  askstop(s)
  save(s)
end

-- Frees some of the blobs that a set names. Returns whether there are more.
local function freeblobs(k)
  for _, blob in ipairs(call('SPOP', k, 100)) do call('UNLINK', key('e', blob)) end
  return call('EXISTS', k) == 1
end

-- Removes a session's entries, what waits for a turn, its dead letters and its
-- timers. Very many blobs go later, under id.
local function erase(s, id)
  local sid = s.id
  call('UNLINK', key('l', sid))
  call('DEL', key('q', sid), key('w', sid))
  rest('turn:' .. sid)
  local blobs = key('eb', sid)
  if freeblobs(blobs) then
    call('RENAME', blobs, key('jb', id))
    due('job:blobs/' .. id, NOW)
  end
  for _, letter in ipairs(call('SMEMBERS', key('ds', sid))) do unbury(letter) end
  local home = sid:gsub('%%', '%%25')
  for _, ref in ipairs(call('SMEMBERS', key('th', home))) do endtimer(ref) end
end

-- Why a session cannot be deleted: group, state, or nil.
local function undeletable(s)
  if s.ty == 'g' then return 'group' end
  if open(s) or s.qn > 0 then return 'state' end
end

-- Removes a session with all that is its own.
local function delete(s, id)
  local sid = s.id
  freeall(s, id)
  erase(s, id)
  delist(s)
  if s.us then call('SREM', key('ip', s.us), sid) end
  if s.pm > 0 then
    for _, user in ipairs(call('ZRANGE', key('m', sid), 0, -1)) do call('SREM', key('ip', user), sid) end
  end
  call('UNLINK', key('s', sid), key('r', sid), key('m', sid))
  live(s, 's')
end

-- The classes that each rule of a sweep looks at: states and types.
local rules = {suspend = {'ca', 'dg'}, expire = {'s', 'dg'}, delete = {'case', 'd'}}

local function sweepable(s, rule, before)
  return s.ac < before and rules[rule][1]:find(s.st:sub(1, 1), 1, true) and (rule ~= 'delete' or s.ty == 'd')
    and not open(s) and s.qn == 0 and s.su ~= 'running' and s.su ~= 'awaiting_approval'
end
