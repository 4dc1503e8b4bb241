-- Tells what workers hold of this shard's queues of mode dispatch.
--
-- ARGV  'count' or 'list', workers to the end
-- Body  per worker how many tasks it holds; or those, each its queue, escaped, a colon, and its id

local body = {}
for i = 6, #ARGV do
  body[#body + 1] = call(ARGV[5] == 'count' and 'SCARD' or 'SMEMBERS', prefix .. 'held:' .. escape(ARGV[i]))
end
return answer(body)
