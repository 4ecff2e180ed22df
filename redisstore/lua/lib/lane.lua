-- lane: the outbox of a surface, and what is on its way to other partitions.
--
-- o:<surface> is the list of its rows, "id\nsession\nentry\nblob\npayload";
-- oh:<surface> a hash about the first one: no nonce and un until (ms) while a
-- worker has it, at attempts, ms maybe sent, na not before (ms). Neither
-- exists while nothing waits. A surface's rows are in its own home partition,
-- whoever wrote them: so there is one lane.
--
-- f:<target> is the list of steps that another partition has to take, each
-- "id\nop\nbody"; target is o:<surface>, s:<session>, u:<user or
-- identity> or p:<partition>, and fwd:<target> is due.
local function row(id, sid, seq, blob, payload)
  return id .. '\n' .. sid .. '\n' .. seq .. '\n' .. blob .. '\n' .. payload
end

local function parserow(text)
  local id, sid, seq, blob, payload = text:match('^([^\n]*)\n([^\n]*)\n(%d+)\n([^\n]*)\n(.*)$')
  return {id = id, sid = sid, seq = tonumber(seq), blob = blob, payload = payload}
end

local function forward(target, id, op, body)
  call('RPUSH', key('f', target), id .. '\n' .. op .. '\n' .. body)
  call('ZADD', base .. ':due', NOW + 1000, 'fwd:' .. target)
  forwarded[target] = true
end

-- All that waits for the targets that this operation has added to:
-- {target, {"id\nop\nbody", ...}, ...}.
local function forwards()
  local out = {}
  for target in pairs(forwarded) do
    out[#out + 1] = target
    out[#out + 1] = call('LRANGE', key('f', target), 0, 99)
  end
  return out
end

-- Returns whether the row is its lane's only one. quiet: then the caller takes
-- the lane in the same script, which makes it due.
local function pushrow(surface, text, quiet)
  if call('RPUSH', key('o', surface), text) > 1 then return false end
  if not quiet then due('lane:' .. surface, NOW) end
  return true
end

-- Takes a lane and its first row: {surface, id, session, seq, blob, payload,
-- attempt, maybe sent, nonce}, or nil and the reason: nothing, busy. text, if
-- given, is a first row that nobody has had yet.
local function takelane(surface, nonce, duration, text)
  local k, h = key('oh', surface), {}
  if not text then
    text = call('LINDEX', key('o', surface), 0)
    if not text then return nil, 'nothing' end
    h = call('HMGET', k, 'no', 'un', 'at', 'ms', 'na')
  end
  if h[1] and tonumber(h[2]) > NOW then return nil, 'busy' end
  if h[5] and tonumber(h[5]) > NOW then return nil, 'nothing' end
  local attempt = tonumber(h[3] or 0) + 1
  local maybe = (h[1] or h[4]) and 1 or 0
  call('HSET', k, 'no', nonce, 'un', NOW + duration, 'at', attempt)
  if maybe == 1 then call('HSET', k, 'ms', 1) end
  due('lane:' .. surface, NOW + duration)
  local r = parserow(text)
  return {surface, r.id, r.sid, r.seq, r.blob, r.payload, attempt, maybe, nonce}
end

-- Reads new rows from the arguments: a count, then that many times surface,
-- local (1) or another partition's (0), id, index of its entry from 1 or 0,
-- blob, payload.
local function readrows()
  local list = {}
  for i = 1, int() do
    list[i] = {surface = arg(), mine = arg() == '1', id = arg(), entry = int(), blob = arg(), payload = arg()}
  end
  return list
end

-- Puts rows into their lanes; sid may be empty; seqs as writeall returned them.
local function pushrows(list, sid, seqs, quiet)
  for _, r in ipairs(list) do
    local text = row(r.id, sid, r.entry > 0 and seqs[2 * r.entry - 1] or 0, r.blob, r.payload)
    if r.mine then
      if r.blob ~= '' then call('PERSIST', key('e', r.blob)) end
      r.first = pushrow(r.surface, text, quiet) and text
    else
      forward('o:' .. r.surface, r.id, 'row', text)
    end
  end
end

-- Takes the lanes of those rows that are in this partition and free.
local function takelanes(list, nonce, duration)
  local out, done = {}, {}
  for _, r in ipairs(list) do
    if duration > 0 and r.mine and not done[r.surface] then
      done[r.surface] = true
      out[#out + 1] = takelane(r.surface, nonce, duration, r.first)
    end
  end
  return out
end

-- 'blob' where a row's payload did not arrive.
local function missingblob(list)
  for _, r in ipairs(list) do
    if r.mine and r.blob ~= '' and call('EXISTS', key('e', r.blob)) == 0 then return 'blob' end
  end
end
