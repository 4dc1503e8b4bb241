-- Recalls what the home of workers has allowed this shard: under these numbers, and those before, it hands out
-- nothing any more. Counts what the workers hold here.
--
-- ARGV  the number of the home
--       pairs to the end: worker, number
-- Body  per worker how many tasks it holds

if repeated then
  return answer(repeated)
end

local last, body = tonumber(call('HGET', prefix .. 'recalled', ARGV[5]) or 0), {}
for i = 6, #ARGV, 2 do
  last = math.max(last, tonumber(ARGV[i + 1]))
  body[#body + 1] = call('SCARD', held_key(ARGV[i]))
end
call('HSET', prefix .. 'recalled', ARGV[5], whole(last))
return finish(body)
