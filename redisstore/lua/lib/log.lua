-- log: the entries of a session.
--
-- l:<sid> is a list of the entries that were not erased. An entry is
-- "parent;time ms;type;place;blob\n" and its payload, which is never decoded.
-- place: t in the tree, w waiting for its place there, b beside it. Where blob
-- is not empty, the payload is under e:<blob> instead, and eb:<sid> is the set
-- of these.
-- Where an entry is in the list.
local function spot(s, seq)
  return seq - 1 - s.cl
end

local function entry(parent, typ, place, blob, payload)
  return parent .. ';' .. NOW .. ';' .. typ .. ';' .. place .. ';' .. blob .. '\n' .. payload
end

-- Returns the new entry's seq, parent and text.
local function write(s, typ, place, blob, payload)
  local parent = 0
  s.n = s.n + 1
  if place == 't' then
    parent = s.lf
    s.lf = s.n
    s.tn = s.tn + 1
  end
  local text = entry(parent, typ, place, blob, payload)
  call('RPUSH', key('l', s.id), text)
  if blob ~= '' then
    call('PERSIST', key('e', blob))
    call('SADD', key('eb', s.id), blob)
  end
  return s.n, parent, text
end

-- An entry's text, nil if there is none, or not any more.
local function read(s, seq)
  return seq > s.cl and call('LINDEX', key('l', s.id), spot(s, seq)) or nil
end

local function intree(s, seq)
  local text = read(s, seq)
  return text and text:match('^%d+;%d+;[^;]*;t;')
end

-- Gives a waiting entry its place in the tree: below the leaf.
local function place(s, seq)
  local time, typ, rest = read(s, seq):match('^%d+;(%d+);([^;]*);w;(.*)$')
  call('LSET', key('l', s.id), spot(s, seq), s.lf .. ';' .. time .. ';' .. typ .. ';t;' .. rest)
  s.lf = seq
  s.tn = s.tn + 1
end

-- Writes a message anew at the end of the log, waiting. Returns the new seq.
local function copy(s, seq)
  local typ, blob, payload = read(s, seq):match('^%d+;%d+;([^;]*);%a;([^\n]*)\n(.*)$')
  return (write(s, typ, 'w', blob, payload))
end

-- Moves the leaf, which leaves a line in the log.
local function moveleaf(s, target, reason)
  if s.lf == target then return end
  local id = target > 0 and 'e' .. target or ''
  write(s, 'leaf', 'b', '', '{"target_id":"' .. id .. '","reason":"' .. reason .. '"}')
  s.lf = target
  live(s, 'e' .. s.n)
end

-- Reads new entries from the arguments: a count, then that many times type,
-- place (t, b, or l with a leaf's target), target, blob, payload.
local function readentries()
  local list = {}
  for i = 1, int() do
    list[i] = {typ = arg(), place = arg(), target = int(), blob = arg(), payload = arg()}
  end
  return list
end

-- What is wrong with new entries: target (a leaf is to move to what is not in
-- the tree), blob (its payload did not arrive), or nil.
local function wrong(s, list)
  local tree = {}
  for i, e in ipairs(list) do
    tree[s.n + i] = e.place == 't'
    if e.blob ~= '' and call('EXISTS', key('e', e.blob)) == 0 then return 'blob' end
    if e.place == 'l' and e.target > s.n and not tree[e.target] then return 'target' end
    if e.place == 'l' and e.target > 0 and e.target <= s.n and not intree(s, e.target) then return 'target' end
  end
end

-- Writes them; returns {seq, parent, ...}.
local function writeall(s, list)
  local out = {}
  for _, e in ipairs(list) do
    local seq, parent = write(s, e.typ, e.place == 'l' and 'b' or e.place, e.blob, e.payload)
    if e.place == 'l' then s.lf = e.target end
    out[#out + 1] = seq
    out[#out + 1] = parent
  end
  if #list > 0 then live(s, 'e' .. s.n) end
  return out
end

-- The newest entries after known (a seq, or 0), at most limit:
-- {from, first seq, entries}. from is known, or 0 where they do not continue
-- it. A known beyond the newest entry, or that was erased, counts as none.
-- newest, if given, is the newest entry's text.
local function tail(s, known, limit, newest)
  local from = known
  if known > s.n or known <= s.cl then known, from = s.cl, 0 end
  if newest and known == s.n - 1 then return {from, s.n, {newest}} end
  if s.n - known > limit then known, from = s.n - limit, 0 end
  return {from, known + 1, call('LRANGE', key('l', s.id), spot(s, known + 1), -1)}
end

-- A receipt becomes an entry of its session, if that is still there.
local function deliver(sid, receipt)
  local s = load(sid)
  if not s then return end
  write(s, 'delivery', 'b', '', receipt)
  live(s, 'e' .. s.n)
  save(s)
end
