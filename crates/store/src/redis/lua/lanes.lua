-- Names the indexes of a queue.
--
-- ARGV  queue
-- Body  names without the prefix

local names = {}
local q = open(ARGV[5])
if q then
  for _, lane in pairs(lanes_of(q)) do
    names[#names + 1] = lane.list
    names[#names + 1] = lane.due
  end
  for _, state in ipairs(STATES) do
    names[#names + 1] = state_key(q, state)
  end
  for _, key in ipairs({q.holds, q.expiries, q.keeps, q.deliveries}) do
    names[#names + 1] = key
  end
end
for i, name in ipairs(names) do
  names[i] = string.sub(name, #prefix + 1)
end
return answer(names)
