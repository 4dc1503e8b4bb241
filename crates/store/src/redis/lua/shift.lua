-- Moves the clock of a shard, and tells every node to look again. The first shard says how far it is moved, and
-- counts the moves, so that the others follow however often and in whatever order they are told.
--
-- ARGV  in the first shard: by how many milliseconds
--       in the others: how far it is ahead after a move, and the number of that
-- Body  {ahead, number}

if repeated then
  return answer(repeated)
end

local ahead, number = ARGV[5], tonumber(ARGV[6])
if not number then
  ahead, number = call('HINCRBY', KEYS[1], 'ahead', ahead), new_birth()
  call('HSET', KEYS[1], 'moved', whole(number))
elseif number > tonumber(call('HGET', KEYS[1], 'moved') or 0) then
  call('HSET', KEYS[1], 'ahead', ahead, 'moved', whole(number))
end
messages[#messages + 1] = 'next 0'
return finish({ahead, whole(number)})
