-- Makes a notice of a message of the inbox, and removes the message from the backup. Outside a Cluster
-- only, where the lists and the shard lie together.
--
-- ARGV  the backup, the lease, the rejected; the message, and what is kept of it if it is rejected
--       queue, the number of the queue's initial fields, those, and the task as `pushed_task` reads it
-- Body  {word}: done, gone (it was not in the backup), full (it stays there), lost (another node has
--       the lease)

if repeated then
  return answer(repeated)
end

local backup, lease, rejected, message, kept = unpack(ARGV, 5, 9)
local count = tonumber(ARGV[11])
local initial = {unpack(ARGV, 12, 11 + count)}
local task = pushed_task(12 + count)

local function receive()
  if call('GET', lease) ~= ARGV[2] then
    return 'lost'
  end
  local q = open(ARGV[10]) or create_queue(ARGV[10], initial)
  if q.max and q.number >= q.max then
    return 'full'
  end
  if call('LREM', backup, 1, message) == 0 then
    return 'gone'
  end
  if push(q, task) ~= 'k' then
    call('RPUSH', rejected, kept)
  end
  return 'done'
end

return finish({receive()})
