-- turn: the queue and the lease of a session.
--
-- q:<sid> is the list of the messages that wait for a turn, w:<sid> of the seqs
-- that were only logged and wait for their place. Neither exists while the
-- session is idle. Those of the open turn are in its record. An item is
-- "seq\norder\nalone\nrights\nsurface"; order is digits of a fixed length that
-- sort as the platform's own order does.
local function item(it)
  return it.seq .. '\n' .. it.order .. '\n' .. it.alone .. '\n' .. it.rights .. '\n' .. it.surface
end

local function parse(text)
  local seq, order, alone, rights, surface = text:match('^(%d+)\n(%d*)\n(%d)\n([^\n]*)\n(.*)$')
  return {seq = tonumber(seq), order = order, alone = alone, rights = rights, surface = surface}
end

local function before(a, b)
  if a.order ~= b.order then return a.order < b.order end
  return a.seq < b.seq
end

-- Takes the first messages of equal rights and surface off the queue, none
-- behind one that is alone, in the platform's own order.
local function collect(s, limit)
  local k, list = key('q', s.id), {}
  for i, text in ipairs(call('LRANGE', k, 0, limit - 1)) do
    local it, first = parse(text), list[1]
    if first and (first.alone == '1' or it.alone == '1' or it.rights ~= first.rights
      or it.surface ~= first.surface) then break end
    list[i] = it
  end
  call('LTRIM', k, #list, -1)
  s.qn = s.qn - #list
  if s.qn == 0 then s.qd = nil end
  table.sort(list, before)
  return list
end

-- A turn's items, which share rights and surface, as one text behind its tip.
local function pack(tip, list)
  local out, first = {}, list[1]
  for i, it in ipairs(list) do out[i] = it.seq .. ':' .. it.order end
  return tip .. '\n' .. table.concat(out, ',') .. '\n' .. first.alone .. '\n' .. first.rights .. '\n' .. first.surface
end

-- Returns the tip and the items.
local function unpackturn(text)
  local tip, seqs, alone, rights, surface = text:match('^(%d+)\n([^\n]*)\n(%d)\n([^\n]*)\n(.*)$')
  local list = {}
  for seq, order in seqs:gmatch('(%d+):(%d*)') do
    list[#list + 1] = {seq = tonumber(seq), order = order, alone = alone, rights = rights, surface = surface}
  end
  return tonumber(tip), list
end

-- Opens a turn of messages that are in the tree now, up to the leaf.
local function openturn(s, list)
  s.tp = s.lf
  s.la = pack(s.tp, list)
end

-- Up to which seq no entry waits for its place.
local function placed(s)
  local seq = s.n
  if s.qn > 0 then seq = math.min(seq, parse(call('LINDEX', key('q', s.id), 0)).seq - 1) end
  if s.wn > 0 then seq = math.min(seq, call('LINDEX', key('w', s.id), 0) - 1) end
  return seq
end

-- Begins or resumes a turn and saves: {epoch, attempt, stop, record,
-- {seq, entry, ...}, tail}. The caller has made sure that the lease is free
-- and messages are there. known is the newest seq that the caller holds;
-- taken, if given, the items of the open turn; each may have its entry's text.
local function begin(s, nonce, duration, known, limits, taken)
  if not taken and open(s) then
    taken = select(2, unpackturn(s.la))
  elseif not taken then
    taken = collect(s, limits.collect)
    for _, it in ipairs(taken) do place(s, it.seq) end
    openturn(s, taken)
  end
  s.at = s.at + 1
  s.ep = s.ep + 1
  s.no = nonce
  s.un = NOW + duration
  s.kn = placed(s)
  setstatus(s, 'running')
  local hot = save(s)
  due('turn:' .. s.id, NOW + duration)
  local messages = {}
  for _, it in ipairs(taken) do
    messages[#messages + 1] = it.seq
    messages[#messages + 1] = it.text or read(s, it.seq)
  end
  local newest = taken[#taken]
  return {s.ep, s.at, s.sp and 1 or 0, record(s, hot), messages,
    tail(s, known, limits.tail, newest.seq == s.n and newest.text)}
end

-- Whether something can be taken up now: the open turn, or what waits.
local function ready(s)
  local time = call('ZSCORE', base .. ':due', 'turn:' .. s.id)
  return time and tonumber(time) <= NOW
end

local function fenced(s, epoch, nonce)
  return not s or s.ep ~= epoch or s.no ~= nonce
end

-- Makes what waits due, unless a turn is open; at once, or when its debounce
-- has passed.
local function wake(s)
  if open(s) then return end
  if s.qn > 0 then due('turn:' .. s.id, math.max(NOW, s.qd))
  else rest('turn:' .. s.id) end
end

-- Ends the open turn; what was logged meanwhile enters the tree.
local function endturn(s)
  if s.wn > 0 then
    for _, seq in ipairs(call('LRANGE', key('w', s.id), 0, -1)) do place(s, tonumber(seq)) end
    call('DEL', key('w', s.id))
  end
  s.tp, s.at, s.kn, s.wn, s.sp = nil, nil, nil, nil, nil
end

-- Opens a turn again from its tip.
local function reopen(s, tip, list)
  moveleaf(s, tip, 'retry')
  openturn(s, list)
  due('turn:' .. s.id, NOW)
end
