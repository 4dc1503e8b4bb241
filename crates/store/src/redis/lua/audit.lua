-- Notes things that were done. Of each token and kind the oldest over the limit goes, so that nobody pushes
-- out what somebody else did: `audit:ring` has the ids of the entries by who did what, in their order.
--
-- ARGV[5]  how many are kept of each
-- ARGV[6…] the entries in their order, each: who and what, as one text; the entry, JSON
-- Body     {}

if repeated then
  return answer(repeated)
end

local stream, ring = prefix .. 'audit', prefix .. 'audit:ring'
for i = 6, #ARGV, 2 do
  local deed, id = ARGV[i] .. '\0', call('XADD', stream, '*', 'entry', ARGV[i + 1])
  local ms, count = string.match(id, '^(%d+)-(%d+)$')
  call('ZADD', ring, 0, deed .. string.rep('0', 20 - #ms) .. ms .. '-' .. string.rep('0', 20 - #count) .. count)
  if call('ZLEXCOUNT', ring, '[' .. deed, '(' .. deed .. '\255') > tonumber(ARGV[5]) then
    local oldest = call('ZRANGEBYLEX', ring, '[' .. deed, '(' .. deed .. '\255', 'LIMIT', 0, 1)[1]
    local place = string.sub(oldest, #deed + 1)
    ms, count = string.match(place, '^0*(%d+)-0*(%d+)$')
    call('XDEL', stream, ms .. '-' .. count)
    call('ZREM', ring, oldest)
  end
end
return finish({})
