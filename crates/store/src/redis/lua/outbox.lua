-- Reads tasks to be handed over to another shard, and removes those it has.
--
-- ARGV  done: the number of the last entry the receiver has, per shard: flat pairs to the end
-- Body  flat pairs of shard and its first entries, each 'number task'

local ENTRIES_MAX = 100

for i = 5, #ARGV, 2 do
  local key, done = prefix .. 'outbox:' .. ARGV[i], tonumber(ARGV[i + 1])
  local first = call('LRANGE', key, 0, ENTRIES_MAX - 1)
  local count = 0
  while first[count + 1] and tonumber(string.match(first[count + 1], '^%d+')) <= done do
    count = count + 1
  end
  if count > 0 then
    call('LTRIM', key, count, -1)
  end
end
local body = {}
for _, member in ipairs(call('ZRANGEBYSCORE', prefix .. 'agenda', '-inf', now)) do
  if string.sub(member, 1, 7) == 'outbox:' then
    local entries = call('LRANGE', prefix .. member, 0, ENTRIES_MAX - 1)
    if entries[1] then
      body[#body + 1] = string.sub(member, 8)
      body[#body + 1] = entries
    else
      call('ZREM', prefix .. 'agenda', member)
    end
  end
end
return finish(body, {})
