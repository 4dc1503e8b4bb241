-- Names the plans that wait for a time, the soonest first, then by their entry.
--
-- ARGV  the time of the last one known, in Unix seconds ('': none), and its entry
--       limit
-- Body  flat pairs of entry and time, in Unix seconds

local key = prefix .. 'plan:time:set'
local after, member, limit = ARGV[5], ARGV[6], tonumber(ARGV[7])

-- Whether one text comes after another by its bytes, whatever the locale of Redis.
local function comes_after(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then
      return x > y
    end
  end
  return #a > #b
end

local first = 0
if after ~= '' then
  -- The one known may be gone: its place is among those of the same time, which go by their bytes.
  first = call('ZCOUNT', key, '-inf', '(' .. after)
  local past = first + call('ZCOUNT', key, after, after)
  while first < past do
    local middle = math.floor((first + past) / 2)
    if comes_after(call('ZRANGE', key, middle, middle)[1], member) then
      past = middle
    else
      first = middle + 1
    end
  end
end
return answer(call('ZRANGE', key, first, first + limit - 1, 'WITHSCORES'))
