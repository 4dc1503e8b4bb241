-- The inbox of notices, as far as it concerns only its own lists. Stands alone: in a Cluster these lie
-- in a slot of their own.
--
-- KEYS    the list, the backup, the lease, the rejected, the outbox and the number of its last entry
-- ARGV    verb, the calling node, and:
--         next: the length of the lease in milliseconds, how many messages, how many bytes of them
--         reject: the message, and what is kept of it
--         note: the message, and the notice packed
--         notes: nothing
--         handed: the number of the last entry of the outbox that its shard has
--         leave: nothing
-- Result  next: {1, messages…}, in their order, or {0} if another node has the lease
--         reject, note: 1; 0 if the message is not in the backup; -1 if another node has the lease
--         notes: the first entries of the outbox, each 'number notice'
--         handed, leave: 1

local BACK_MAX, ENTRIES_MAX = 10000, 100

local call = redis.call
local list, backup, lease, rejected, outbox, last = unpack(KEYS)
local verb, node = ARGV[1], ARGV[2]

if verb == 'next' then
  local holder = call('GET', lease)
  if holder and holder ~= node then
    return {0}
  end
  call('SET', lease, node, 'PX', ARGV[3])
  -- Whatever lies in the backup now was left there by somebody who did not get on with it.
  local moved = 0
  while moved < BACK_MAX and call('LMOVE', backup, list, 'RIGHT', 'LEFT') do
    moved = moved + 1
  end
  local messages, bytes = {1}, 0
  while moved < BACK_MAX and #messages <= tonumber(ARGV[4]) and bytes < tonumber(ARGV[5]) do
    local message = call('LMOVE', list, backup, 'LEFT', 'RIGHT')
    if not message then
      break
    end
    messages[#messages + 1] = message
    bytes = bytes + #message
  end
  return messages
elseif verb == 'reject' or verb == 'note' then
  if call('GET', lease) ~= node then
    return -1
  elseif call('LREM', backup, 1, ARGV[3]) == 0 then
    return 0
  elseif verb == 'reject' then
    call('RPUSH', rejected, ARGV[4])
  else
    call('RPUSH', outbox, call('INCR', last) .. ' ' .. ARGV[4])
  end
  return 1
elseif verb == 'notes' then
  return call('LRANGE', outbox, 0, ENTRIES_MAX - 1)
elseif verb == 'handed' then
  local first = call('LRANGE', outbox, 0, ENTRIES_MAX - 1)
  local count = 0
  while first[count + 1] and tonumber(string.match(first[count + 1], '^%d+')) <= tonumber(ARGV[3]) do
    count = count + 1
  end
  if count > 0 then
    call('LTRIM', outbox, count, -1)
  end
elseif verb == 'leave' then
  if call('GET', lease) == node then
    call('DEL', lease)
  end
end
return 1
