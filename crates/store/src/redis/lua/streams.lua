-- Ready and waiting tasks as streams in the order of their turn. A stream has `head()`, its first record
-- or nil, as {id, birth, at, record}, and `pop()`, which goes on to the next.

-- How many entries are read at once. A script that wants fewer says so.
local chunk_size = 100

-- The entries of a sorted set from a rank on, as long as `is_wanted(score)`; counted from its end where
-- `is_reverse`.
local function sorted_stream(key, rank, is_wanted, is_reverse)
  local stream = {key = key}
  local chunk, i, current, has_ended = {}, 1, nil, false
  function stream.head()
    if current or has_ended then
      return current
    end
    if not chunk[i] then
      chunk, i = call(is_reverse and 'ZREVRANGE' or 'ZRANGE', key, rank, rank + chunk_size - 1, 'WITHSCORES'), 1
      rank = rank + chunk_size
    end
    local at = tonumber(chunk[i + 1])
    if at and is_wanted(at) then
      local birth, id = parse_entry(chunk[i])
      current = {id = id, birth = birth, at = at, member = chunk[i]}
    else
      has_ended = true
    end
    return current
  end
  function stream.pop()
    current, i = nil, i + 2
  end
  return stream
end

-- The entries of a lane's list from an index on. `passed` counts those that were popped, `holes` the
-- empty places among them. An entry whose record does not say that it stands there is none.
local function list_stream(q, lane, from)
  local stream = {lane = lane, passed = 0, holes = 0}
  local chunk, i, current, has_ended = {}, 1, nil, false
  local index = from
  local function step()
    i, stream.passed, current = i + 1, stream.passed + 1, nil
  end
  function stream.head()
    while not current and not has_ended do
      if not chunk[i] then
        chunk, i = call('LRANGE', lane.list, index, index + chunk_size - 1), 1
        index = index + chunk_size
        if not chunk[1] then
          has_ended = true
          return nil
        end
      end
      local record = chunk[i] ~= '' and read_record(q, chunk[i])
      if record and tonumber(record.pos) == lane.head + from + stream.passed then
        current = {id = record.id, birth = record.birth, at = record.ready, record = record}
      else
        if chunk[i] == '' then
          stream.holes = stream.holes + 1
        end
        step()
      end
    end
    return current
  end
  stream.pop = step
  return stream
end

-- The record of a stream's head, if it agrees that it waits its turn.
local function waiting_record(q, head)
  local record = head.record or read_record(q, head.id)
  local is_waiting = record and record.birth == head.birth
    and (record.status == 'waiting' or record.status == 'ready')
  return is_waiting and record or nil
end

-- The stream whose head comes first, that head, and the stream's place.
local function first_of(streams)
  local best, best_head, place
  for n, stream in ipairs(streams) do
    local head = stream.head()
    if head and (not best or head.at < best_head.at
        or (head.at == best_head.at and head.birth < best_head.birth)) then
      best, best_head, place = stream, head, n
    end
  end
  return best, best_head, place
end

-- The lanes of a queue in groups of one priority, the highest first; only those of classes that are
-- served, where that is asked for.
local function by_priority(q, is_served)
  local groups, priorities = {}, {}
  for name, lane in pairs(lanes_of(q)) do
    local priority, class = string.match(name, '^(-?%d+):?(.*)$')
    priority = tonumber(priority)
    lane.class = class
    if not is_served or is_served(class) then
      if not groups[priority] then
        groups[priority] = {priority = priority}
        priorities[#priorities + 1] = priority
      end
      table.insert(groups[priority], lane)
    end
  end
  table.sort(priorities, function(a, b) return a > b end)
  local sorted = {}
  for i, priority in ipairs(priorities) do
    sorted[i] = groups[priority]
  end
  return sorted
end

local function is_due(at)
  return at <= now
end
