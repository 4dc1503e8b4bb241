-- Looks at what has fallen due on the agenda. Announces queues whose tasks became ready; what else is
-- due stays on the agenda until it is dealt with.
--
-- ARGV  -
-- Body  {expired, sweep, outbox, alarms, next, odd}: 1 if there are holds or expiries to end, things to
--       sweep, tasks to hand over to other shards, owners to look after; when to look again (0: when
--       told); queues whose indexes do not hold as many tasks as they should

local RECHECK_MS = 1000

local agenda_key = prefix .. 'agenda'
local expired, sweep, outbox, alarms, again = 0, 0, 0, 0, 0

local function look_again(at)
  if at and (again == 0 or at < again) then
    again = at
  end
end

-- The first score of a sorted set that is past `from`.
local function first_score(key, from)
  return tonumber(call('ZRANGEBYSCORE', key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2])
end

local function move(member, at)
  if at then
    call('ZADD', agenda_key, whole(at), member)
  else
    call('ZREM', agenda_key, member)
  end
end

local function announce(member, name)
  local key = prefix .. member
  local q = open(name)
  local count = call('ZCOUNT', key, '-inf', now)
  if q and count > 0 then
    q.became_ready = q.became_ready + count
  end
  move(member, first_score(key, '(' .. whole(now)))
end

-- Work that stays until it is done. True if there is some now.
local function is_pending(member, kind)
  local key = prefix .. member
  if kind == 'trash' or kind == 'outbox' then
    local is_there = call('EXISTS', key) == 1
    if not is_there then
      move(member, nil)
    end
    return is_there
  end
  local at = first_score(key, '-inf')
  if not at or at > now then
    move(member, at)
    return false
  end
  look_again(first_score(key, '(' .. whole(now)))
  return true
end

-- Whether the indexes of a queue hold every live task once, and every held one has an end. A held task
-- that lost its entry would never come back.
local function is_odd(q)
  local held, live = 0, 0
  for state in pairs(HELD) do
    held = held + call('ZCARD', state_key(q, state))
  end
  for _, lane in pairs(lanes_of(q)) do
    live = live + lane.tail - lane.head - lane.holes + call('ZCARD', lane.due)
  end
  live = live + held + call('ZCARD', state_key(q, 'paused'))
  return held ~= call('ZCARD', q.holds) or live ~= q.number
end

local odd = {}

for _, member in ipairs(call('ZRANGEBYSCORE', agenda_key, '-inf', now)) do
  local kind, name = parse_agenda(member)
  local q = kind == 'hold' and open(name)
  if q and is_odd(q) then
    odd[#odd + 1] = name
  end
  if kind == 'due' then
    announce(member, name)
  elseif is_pending(member, kind) then
    look_again(now + RECHECK_MS)
    if kind == 'hold' or kind == 'expire' then
      expired = 1
    elseif kind == 'outbox' then
      outbox = 1
    elseif kind == 'alarm' then
      alarms = 1
    else
      sweep = 1
    end
  end
end
look_again(first_score(agenda_key, '(' .. whole(now)))
return finish({expired, sweep, outbox, alarms, again, odd})
