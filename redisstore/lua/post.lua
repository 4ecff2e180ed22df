#!lua
-- post: dedupe, find or make the session, append, count, queue, claim.
--
-- KEYS[1] tag of the surface's home partition, or of the session's
-- ARGV    sid (empty: the surface's current one), surface, dedupe key, its ms,
--         user, 1 if it counts as a message of people, preview, description,
--         blob, payload, trigger 0|1, rights, order, alone 0|1, debounce ms,
--         queue's maximum, claim ms (0: no), nonce, known session, known seq,
--         collect's maximum, tail's maximum; of a new session its wanted id,
--         bare id and drawn id, user and cold part; a session of another
--         partition that the surface is bound to but that has ended, or empty;
--         the session that the surface has to have, or empty; what the message
--         shows the surface to be: d, g or empty; 1 if the user may write alone
--         into a group's session that they take no part in
-- Returns {dup, sid, seq} | {moved, sid} | {elsewhere, sid} | {full} | {missing} | {blob} | {taken}
--         | {state, sid, state, status} | {logged|queued, sid, seq, created}
--         | {claimed, sid, seq, created, turn}
local sid, surface, dedupe, ttl, user, counts, preview, description, blob, payload,
  trigger, rights, order, alone, debounce, queuemax, lease, nonce, knownsid, knownseq,
  collectmax, tailmax, wanted, bare, drawn, owner, cold, ended, held, shown, anywhere = unpack(ARGV, 2)
trigger, debounce, lease = trigger == '1', tonumber(debounce), tonumber(lease)

local k = once(surface ~= '' and surface or sid, dedupe)
local where = sid ~= '' and key('s', sid) or key('b', surface)
local texts = call('MGET', where, k or where)
local seq, target = usedfor(k, k and texts[2])
if seq and seq ~= '>' then
  if call('EXISTS', key('s', target)) == 0 then return {'dup', '', 0} end
  return {'dup', target, tonumber(seq)}
end
if seq and target ~= ended then return {'moved', target} end
if blob ~= '' and call('EXISTS', key('e', blob)) == 0 then return {'blob'} end

local s
local private = shown == 'd' and anywhere ~= '1'
if sid ~= '' then
  s = loaded(sid, texts[1])
  if not s or private and outside(s, user) then return {'missing'} end
  if s.st == 'expired' then return {'state', s.id, s.st, s.su} end
else
  local bound, away = binding(texts[1])
  if held ~= '' and bound and bound ~= held then return {'elsewhere', bound} end
  if away and bound ~= ended then
    remember(k, '>', bound, ttl)
    return {'moved', bound}
  end
  s = bound and not away and load(bound)
  if s and s.st == 'expired' then
    surfaces(s.id, nil, surface)
    s = nil
  elseif s and private and outside(s, user) then
    dropsurface(s.id, surface)
    s = nil
  end
end
local waiting = s and s.qn or 0
if trigger and waiting >= tonumber(queuemax) then return {'full'} end

local created = 0
if not s then
  local id = newid(wanted, bare, drawn)
  if not id then return {'taken'} end
  s, created = create(id, owner, cold), 1
  bind(surface, id)
end

-- A logged message waits only while a turn is open or due; a triggering one
-- has its place at once only if this very call takes it up.
local free = waiting == 0 and not open(s)
local first = free and trigger and lease > 0 and debounce == 0
local _, _, text = write(s, 'message', (first or free and not trigger) and 't' or 'w', blob, payload)
seq = s.n
remember(k, seq, s.id, ttl)
s.mc = s.mc + counts
local late = {}
mend(s, shown)
touch(s)
if not s.dd and description ~= '' then
  late[#late + 1] = {'fallback', '', description}
end
if #late > 0 then applypatch(s, patched(s.id, late, math.huge)) end
participate(s, user)
if preview ~= '' then s.pv = preview end
live(s, 'e' .. seq)

if not trigger then
  if not free then
    call('RPUSH', key('w', s.id), seq)
    s.wn = s.wn + 1
  end
  save(s)
  return {'logged', s.id, seq, created}
end
unhide(s)
local it = {seq = seq, rights = rights, order = order, alone = alone, surface = surface, text = first and text}
if first then
  openturn(s, {it})
else
  call('RPUSH', key('q', s.id), item(it))
  s.qn = s.qn + 1
  s.qd = debounce > 0 and NOW + debounce or nil
end
if first or lease > 0 and debounce == 0 and not open(s) then
  local known = knownsid == s.id and tonumber(knownseq) or 0
  local turn = begin(s, nonce, lease, known, {collect = collectmax, tail = tonumber(tailmax)}, first and {it})
  return {'claimed', s.id, seq, created, turn}
end
wake(s)
save(s)
return {'queued', s.id, seq, created}
