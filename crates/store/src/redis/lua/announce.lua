-- Appends to the stream of events, and drops what nobody can go on from any more.
--
-- An entry says which one came before it, so that whoever reads them knows when one is missing: Redis was
-- flushed, or a replica took over that had not heard of it.
--
-- ARGV  the oldest entry to keep ('': all), then pairs: the name of an event and the queues it names,
--       separated by spaces, and its JSON
-- Body  {the id of the entry}

if repeated then
  return answer(repeated)
end

local key = prefix .. 'events'
local last = call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
local fields = {'after', last and last[1] or '0-0'}
for i = 6, #ARGV, 2 do
  fields[#fields + 1] = ARGV[i]
  fields[#fields + 1] = ARGV[i + 1]
  local queue = string.match(ARGV[i], '^pub%.%S+ (%S+)$')
  if queue then
    call('PUBLISH', prefix .. 'pub:' .. escape(queue), ARGV[i + 1])
  end
end
local id = call('XADD', key, '*', unpack(fields))
if ARGV[5] ~= '' then
  call('XTRIM', key, 'MINID', '~', ARGV[5])
end
return finish({id})
