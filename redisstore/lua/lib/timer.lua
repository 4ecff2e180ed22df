-- timer: what is due at some time.
--
-- t:<ref> is a hash: p purpose, d payload, b its blob, du due ms, f fence. ref
-- is home/name, the home escaped; th:<home> is the set of a home's refs.
local function homeof(ref)
  return ref:match('^[^/]*')
end

local function endtimer(ref)
  local blob = call('HGET', key('t', ref), 'b')
  if blob and blob ~= '' then call('DEL', key('e', blob)) end
  call('DEL', key('t', ref))
  call('SREM', key('th', homeof(ref)), ref)
  rest('timer:' .. ref)
end

-- No setting after this has this fence, or a smaller one.
local function raisefence(fence)
  if tonumber(call('GET', base .. ':fence') or 0) < fence then call('SET', base .. ':fence', fence) end
end
