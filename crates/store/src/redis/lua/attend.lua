-- Notes that a server is there, or has ended, and forgets those that were not heard of for an hour.
--
-- ARGV[5]  the server
-- ARGV[6]  what it says about itself, JSON; '' if it has ended
-- Body     {}

local FORGET_MS = 3600000

local key = prefix .. 'nodes'
if ARGV[6] == '' then
  call('HDEL', key, ARGV[5])
else
  call('HSET', key, ARGV[5], whole(now) .. ' ' .. ARGV[6])
end
local cards = call('HGETALL', key)
for i = 1, #cards, 2 do
  local seen = tonumber(string.match(cards[i + 1], '^%d+')) or 0
  if seen < now - FORGET_MS then
    call('HDEL', key, cards[i])
  end
end
return finish({})
