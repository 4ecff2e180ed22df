-- record: reading, making and changing a session's record.
--
-- s:<sid> is the part that changes with every message, a small MessagePack map
-- (one read and one write cost a sixth of a hash's, half of JSON's):
--   st state, su status, ac last activity ms, cr created ms, ch state changed ms,
--   n newest seq, cl the newest that was erased, mc messages, tc turns, lf leaf,
--   tn entries that ever entered the tree, vr version, ep epoch, ct context
--   tokens, pv preview, us first participant, ui the user id where it is
--   another than that, pm how many other participants, pr how many were taken
--   off again, ty type (d or g), ws workspace, qn messages that wait, dd 1 when
--   a description is there, la the open or last turn (see pack), ld its dead letter,
--   qd when the debounce of what waits has passed, ms. While a turn is open
--   also tp tip (the leaf when it began), at attempts, kn what its holder
--   knows, wn logged messages that wait for their place, sp asked to stop;
--   while a lease is given out also no nonce, un until ms.
-- Numbers are whole and stay below 2^53.
-- r:<sid> is the cold part, a MessagePack map whose leaves are all texts:
--   src (JSON), us, ws, nm, ds, dss, wm, ag, ps, ks (checkpoint: seq and turns), sf [surfaces], md {JSON key: JSON value}.
-- m:<sid> is a set of the participants after the first, in order.
local unset = {__index = {n = 0, mc = 0, tc = 0, lf = 0, tn = 0, vr = 0, ep = 0, un = 0, at = 0, tp = 0, kn = 0,
  qd = 0, qn = 0, wn = 0, pm = 0, pr = 0, cl = 0}}

local function loaded(sid, text)
  if not text then return nil end
  local s = setmetatable(cmsgpack.unpack(text), unset)
  s.id = sid
  return s
end

local function load(sid)
  return loaded(sid, call('GET', key('s', sid)))
end

local function store(s)
  local id = s.id
  s.id = nil
  local text = cmsgpack.pack(s)
  call('SET', key('s', id), text)
  s.id = id
  return text
end

-- Every change of record or log ends with one save.
local function save(s)
  s.vr = s.vr + 1
  return store(s)
end

local function live(s, message)
  call('SPUBLISH', key('live', s.id), message)
end

local function setstatus(s, status)
  if s.su == status then return end
  s.su = status
  live(s, 's')
end

local function setstate(s, state)
  if s.st == state then return end
  s.st = state
  s.ch = NOW
  live(s, 's')
end

-- Indexes: i:<class> has the sessions of a class by activity, iw:<class>:<workspace>
-- those of one workspace, iu:<state>:<user> those of one user id, who does not
-- have so many. A class is the first letter of the state, and g for a group or
-- d for all else.
-- ip:<user> is the set of the sessions in which somebody takes part whose user
-- id is another.
-- The record's user id; nil or empty: none.
local function userid(s)
  return s.ui or s.us
end

local function reindex(command, s, ac)
  local state, id, who = s.st:sub(1, 1), s.id, s.ui or s.us
  local c = state .. (s.ty == 'g' and 'g' or 'd')
  call(command, base .. ':i:' .. c, ac, id)
  if who and who ~= '' then call(command, base .. ':iu:' .. state .. ':' .. who, ac, id) end
  if s.ws then call(command, base .. ':iw:' .. c .. ':' .. s.ws, ac, id) end
end

local function enlist(s)
  reindex('ZADD', s, s.ac)
end

-- Takes a session out of its indexes (its id twice does no harm).
local function delist(s)
  reindex('ZREM', s, s.id)
end

-- Changes the state and the indexes with it.
local function become(s, state)
  delist(s)
  setstate(s, state)
  enlist(s)
end

local function suspend(s)
  if s.st == 'created' or s.st == 'active' then become(s, 'suspended') end
  setstatus(s, 'inactive')
end

-- A session that was hidden shows again: what it does now.
local function unhide(s)
  if s.su == 'inactive' then setstatus(s, s.no and 'running' or 'idle') end
end

-- Activity: the session is active, and the newest.
local function touch(s)
  s.ac = NOW
  if s.st == 'active' then
    enlist(s)
    return
  end
  if s.st == 'suspended' then unhide(s) end
  become(s, 'active')
end

-- Who a user is now: rn:<user> is left for a while by a merge.
local function renamed(user)
  for _ = 1, 10 do
    local now = call('GET', key('rn', user))
    if not now then return user end
    user = now
  end
  return user
end

local function takespart(s, user)
  return s.us == user or s.pm > 0 and call('ZSCORE', key('m', s.id), user)
end

local function coldpart(sid)
  return cmsgpack.unpack(call('GET', key('r', sid)))
end

local function savecold(sid, cold)
  call('SET', key('r', sid), cmsgpack.pack(cold))
end

-- A user takes part, and is the record's user where that has none.
local function participate(s, user)
  if user == '' or s.ui ~= '' and takespart(s, user) then return end
  user = renamed(user)
  local nobodys = (userid(s) or '') == ''
  if nobodys then delist(s) end
  if not s.us then
    s.us = user
    if s.ui == user then s.ui = nil end
  elseif not takespart(s, user) then
    call('ZADD', key('m', s.id), s.pm + s.pr, user)
    s.pm = s.pm + 1
  end
  if nobodys then
    local cold = coldpart(s.id)
    cold.us, s.ui = user, s.us ~= user and user or nil
    savecold(s.id, cold)
    call('SREM', key('ip', user), s.id)
    enlist(s)
  elseif userid(s) ~= user then
    call('SADD', key('ip', user), s.id)
  end
end

-- A participant takes part no longer. The record's user stays who they are.
local function part(s, user)
  local whose, m, gone = userid(s), key('m', s.id), nil
  if s.us == user then
    gone = call('ZPOPMIN', m)[1]
    s.us = gone
  else
    gone = call('ZREM', m, user) == 1
  end
  if gone then s.pm, s.pr = s.pm - 1, s.pr + 1 end
  s.ui = s.us ~= whose and whose or nil
  call('SREM', key('ip', user), s.id)
end

-- Whether who speaks alone must not write into a session: it is a group's for
-- certain, and they take no part in it.
local function outside(s, user)
  if s.ty ~= 'g' or user == '' or takespart(s, renamed(user)) then return false end
  local cold = coldpart(s.id)
  return not (cjson.decode(cold.src).assumed and #(cold.sf or {}) == 1)
end

-- A record that nobody has indexed yet. cold is its packed cold part.
local function create(sid, user, cold)
  local s = setmetatable({id = sid, st = 'created', su = 'idle', ac = NOW, cr = NOW}, unset)
  local decoded = cmsgpack.unpack(cold)
  s.ty = ({direct = 'd', group = 'g'})[cjson.decode(decoded.src).type]
  s.ws = decoded.ws
  if user ~= '' then s.us = renamed(user) end
  if decoded.us ~= s.us then
    decoded.us = s.us
    cold = cmsgpack.pack(decoded)
  end
  call('SET', key('r', sid), cold)
  return s
end

-- Corrects a type that a message shows to be wrong (d, g, or empty): direct
-- becomes group; group becomes direct only where nobody had known it and the
-- session has no other surface.
local function mend(s, shown)
  if shown == '' or shown == s.ty or not s.ty then return end
  local cold = coldpart(s.id)
  local source = cjson.decode(cold.src)
  if shown == 'd' and not (source.assumed and #(cold.sf or {}) == 1) then return end
  delist(s)
  s.ty = shown
  enlist(s)
  source.type, source.assumed = shown == 'g' and 'group' or 'direct', nil
  cold.src = cjson.encode(source)
  savecold(s.id, cold)
end

-- The id of a new session: the wanted one (nil if it is taken), else the bare
-- one if there is one that is free, else the drawn one.
local function newid(wanted, bare, drawn)
  if wanted ~= '' then
    if call('EXISTS', key('s', wanted)) == 1 then return nil end
    return wanted
  end
  if bare ~= '' and call('EXISTS', key('s', bare)) == 0 then return bare end
  return drawn
end

-- Changes surfaces[]; the bindings are the truth. remove may be
-- replaced in place by add; either may be nil. Returns whether it changed.
local function surfaces(sid, add, remove)
  local cold = coldpart(sid)
  local list, has, changed = {}, not add, false
  for _, surface in ipairs(cold.sf or {}) do
    local kept = surface
    if surface == remove then kept = not has and add or nil end
    if kept and kept == add then
      if has then kept = nil end
      has = true
    end
    changed = changed or kept ~= surface
    list[#list + 1] = kept
  end
  if not has then
    list[#list + 1] = add
    changed = true
  end
  if not changed then return false end
  cold.sf = #list > 0 and list or nil
  savecold(sid, cold)
  return true
end

-- b:<surface> is the id of its current session, behind a = where that is in
-- this partition, behind a > where it is in another one.
local function bind(surface, sid, elsewhere)
  call('SET', key('b', surface), (elsewhere and '>' or '=') .. sid)
end

-- Returns the session and whether it is in another partition; nil: none.
local function binding(text)
  if not text then return nil end
  return text:sub(2), text:byte() == 62
end

local function boundto(surface)
  return binding(call('GET', key('b', surface)))
end

local function open(s)
  return s.tp > 0
end

local function held(s)
  return s.no and s.un > NOW
end

-- A session as the store hands it out: {sid, s, r, participants after the
-- first}. hot is what was saved of it just now.
local function record(s, hot)
  local others = s.pm > 0 and call('ZRANGE', key('m', s.id), 0, -1) or {}
  return {s.id, hot, call('GET', key('r', s.id)), others}
end

local function readrecord(sid)
  local hot = call('GET', key('s', sid))
  return hot and {sid, hot, call('GET', key('r', sid)), call('ZRANGE', key('m', sid), 0, -1)}
end

-- Strength of a description's source: the weaker never replaces the stronger.
-- An empty text has none.
local strength = {fallback = 1, agent = 2, user = 3}

local function describe(cold, source, text)
  if (strength[source] or 0) < (strength[cold.dss or ''] or 0) then return end
  if text == '' then text, source = nil, nil end
  cold.ds, cold.dss = text, source
end

-- The length of metadata as JSON: braces, colons and commas included.
local function weight(metadata)
  local bytes = 1
  for k, v in pairs(metadata) do bytes = bytes + #k + #v + 2 end
  return bytes
end

-- Reads a patch from the arguments: a count, then that many times kind, name,
-- value. kind: tokens, cold, preview, describe (name is the source), fallback (a
-- description where there is none), metadata (an empty value removes the key).
local function readpatch()
  local patch = {}
  for i = 1, int() do patch[i] = {arg(), arg(), arg()} end
  return patch
end

-- Works a patch out without writing it. Nil: the metadata would have more
-- than limit bytes.
local function patched(sid, patch, limit)
  local out, cold = {}, nil
  for _, change in ipairs(patch) do
    local kind, name, value = unpack(change)
    if kind == 'tokens' then out.ct = tonumber(value)
    elseif kind == 'preview' then out.pv = value
    else
      cold = cold or coldpart(sid)
      if kind == 'cold' then cold[name] = value
      elseif kind == 'describe' then describe(cold, name, value)
      elseif kind == 'fallback' then
        if not cold.ds then describe(cold, kind, value) end
      else
        cold.md = cold.md or {}
        cold.md[name] = value ~= '' and value or nil
        if not next(cold.md) then cold.md = nil end
      end
    end
  end
  if cold and cold.md and weight(cold.md) > limit then return nil end
  out.cold = cold
  return out
end

local function applypatch(s, out)
  s.ct, s.pv = out.ct or s.ct, out.pv or s.pv
  if out.cold then
    s.dd = out.cold.ds and 1 or nil
    savecold(s.id, out.cold)
  end
end

-- Asks the open turn, if there is one, to stop.
local function askstop(s)
  if not open(s) then return end
  s.sp = 1
  call('SPUBLISH', base .. ':wake', 'stop:' .. s.id)
end

-- A surface leaves a session, which is suspended; its open turn is asked to stop.
local function leave(sid, surface)
  local s = load(sid)
  if not s then return end
  surfaces(sid, nil, surface)
  suspend(s)
  askstop(s)
  save(s)
end

-- A surface leaves a session, which stays as it is.
local function dropsurface(sid, surface)
  local s = load(sid)
  if s and surfaces(sid, nil, surface) then save(s) end
end

-- A surface loses its session, if it is that one.
local function unbind(surface, sid)
  if boundto(surface) == sid then call('DEL', key('b', surface)) end
end
