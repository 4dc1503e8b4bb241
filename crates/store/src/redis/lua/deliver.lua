-- Makes tasks that were decided on in another shard, each once: entries come in order, and the number of
-- the last one is kept.
--
-- ARGV  sender: the number of the other shard
--       entries to the end, each: number, queue, the number of the queue's initial fields, those, and
--       the task as `pushed_task` reads it
-- Body  {}

if repeated then
  return answer(repeated)
end

local inbox = prefix .. 'inbox'
local done = tonumber(call('HGET', inbox, ARGV[5]) or 0)
local i = 6
while i <= #ARGV do
  local number, name, count = tonumber(ARGV[i]), ARGV[i + 1], tonumber(ARGV[i + 2])
  local initial = {unpack(ARGV, i + 3, i + 2 + count)}
  local task
  task, i = pushed_task(i + 3 + count)
  if number > done then
    push(open(name) or create_queue(name, initial), task)
    done = number
  end
end
call('HSET', inbox, ARGV[5], whole(done))
return finish({})
