-- Finds the queue a plan belongs to.
--
-- ARGV  id of the plan
-- Body  {queue}; {}: no such plan here

local found = call('ZRANGEBYLEX', prefix .. 'plan:ids', '[' .. ARGV[5] .. ' ', '(' .. ARGV[5] .. '!', 'LIMIT', 0, 1)
return answer({found[1] and string.sub(found[1], #ARGV[5] + 2)})
