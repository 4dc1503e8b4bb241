-- Reads a page of a queue's tasks, state after state. A task that has moved within its state since the first
-- page was read is listed where it stood then.
--
-- ARGV  queue, limit
--       cursor: '' or the place of the last task of the page before, as five numbers: its state's place
--       among the states, priority, time, birth; and the last birth before the first page was read
--       sort: '', or 'oldest' or 'newest': the states, all finished, are one list by when the tasks ended
--       states to the end
-- Body  {records, cursor}: records as in read.lua; the cursor of the next page, '' if this was the last

local BYTES_MAX = 8388608

local q = open(ARGV[5])
if not q then
  return answer({{}, ''})
end
local limit = tonumber(ARGV[6])
chunk_size = math.max(math.min(chunk_size, limit + 1), 1)
local after
local version = shard[2]
if ARGV[7] ~= '' then
  local group, priority, at, birth
  group, priority, at, birth, version = string.match(ARGV[7], '^(%d+) (-?%d+) (%d+) (%d+) (%d+)$')
  after = {group = tonumber(group), priority = tonumber(priority), at = tonumber(at), birth = tonumber(birth)}
end

-- What has moved since the first page, by state and birth, and where it stood, by state and priority: there
-- the first move found it.
local moved, stood = {ready = {}, waiting = {}}, {ready = {}, waiting = {}}
for _, text in ipairs(after and call('ZRANGEBYSCORE', q.moves, '(' .. version, '+inf') or {}) do
  local state, priority, at, member = string.match(text, '^%d+ (%a+) (-?%d+) (%d+) (.*)$')
  local birth, id = parse_entry(member)
  if not moved[state][birth] then
    moved[state][birth], priority = true, tonumber(priority)
    stood[state][priority] = stood[state][priority] or {}
    table.insert(stood[state][priority], {id = id, birth = birth, at = tonumber(at), has_moved = true})
  end
end

local function is_after(at, birth)
  return at > after.at or (at == after.at and birth > after.birth)
end

-- The rank of a sorted set's first entry that comes after the cursor.
local function seek_sorted(key)
  local low, high = call('ZCOUNT', key, '-inf', '(' .. whole(after.at)), call('ZCOUNT', key, '-inf', whole(after.at))
  while low < high do
    local middle = math.floor((low + high) / 2)
    local birth = parse_entry(call('ZRANGE', key, middle, middle)[1])
    if birth > after.birth then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

-- The rank, counted from the end, of a sorted set's last entry that comes before the cursor.
local function seek_before(key)
  local low, high = call('ZCOUNT', key, '-inf', '(' .. whole(after.at)), call('ZCOUNT', key, '-inf', whole(after.at))
  while low < high do
    local middle = math.floor((low + high) / 2)
    local birth = parse_entry(call('ZRANGE', key, middle, middle)[1])
    if birth >= after.birth then
      high = middle
    else
      low = middle + 1
    end
  end
  return call('ZCARD', key) - low
end

-- The first entry of a list from an index on that is no empty place.
local function first_filled(lane, from, to)
  for start = from, to - 1, chunk_size do
    for n, id in ipairs(call('LRANGE', lane.list, start, math.min(start + chunk_size, to) - 1)) do
      if id ~= '' then
        return start + n - 1, id
      end
    end
  end
end

-- The index of a list's first entry that comes after the cursor. Empty places say nothing: the next
-- entry that does is asked.
local function seek_list(lane)
  local low, high = 0, lane.tail - lane.head
  while low < high do
    local middle = math.floor((low + high) / 2)
    local index, id = first_filled(lane, middle, high)
    local v = id and call('HMGET', task_key(q, id), 'ready', 'birth')
    if v and v[1] and not is_after(millis(v[1]), tonumber(v[2])) then
      low = index + 1
    else
      high = middle
    end
  end
  return low
end

local function is_waiting(at)
  return at > now
end

-- Tasks that have moved, where they stood, from the cursor on or from the beginning.
local function moved_stream(heads, from_cursor)
  local rest = {}
  for _, head in ipairs(heads or {}) do
    if not from_cursor or is_after(head.at, head.birth) then
      rest[#rest + 1] = head
    end
  end
  table.sort(rest, function(a, b) return a.at < b.at or (a.at == b.at and a.birth < b.birth) end)
  local i = 1
  return {
    head = function() return rest[i] end,
    pop = function() i = i + 1 end,
  }
end

-- The record of a task that waits its turn. What has moved is listed only where it stood, if it is still in
-- that state.
local function record_of(state)
  return function(_, head)
    if moved[state][head.birth] and not head.has_moved then
      return nil
    end
    local record = waiting_record(q, head)
    local has_left = record and head.has_moved and is_waiting(record.ready) ~= (state == 'waiting')
    return not has_left and record or nil
  end
end

local function any()
  return true
end

-- The lanes of each priority, the highest first, also where only tasks that have moved stood.
local function levels()
  local all, stood_at = by_priority(q), {}
  for priority in pairs(stood.ready) do
    stood_at[priority] = true
  end
  for _, lanes in ipairs(all) do
    stood_at[lanes.priority] = nil
  end
  for priority in pairs(stood_at) do
    all[#all + 1] = {priority = priority}
  end
  table.sort(all, function(a, b) return a.priority > b.priority end)
  return all
end

-- The streams of a group of lanes from the cursor on, or from the beginning.
local function ready_streams(lanes, from_cursor)
  local streams = {moved_stream(stood.ready[lanes.priority], from_cursor)}
  for _, lane in ipairs(lanes) do
    streams[#streams + 1] = sorted_stream(lane.due, from_cursor and seek_sorted(lane.due) or 0, is_due)
    streams[#streams + 1] = list_stream(q, lane, from_cursor and seek_list(lane) or 0)
  end
  return streams
end

local function waiting_streams(from_cursor)
  local streams = {moved_stream(stood.waiting[0], from_cursor)}
  for _, lane in pairs(lanes_of(q)) do
    local first = call('ZCOUNT', lane.due, '-inf', now)
    if from_cursor then
      first = math.max(first, seek_sorted(lane.due))
    end
    streams[#streams + 1] = sorted_stream(lane.due, first, is_waiting)
  end
  return streams
end

local records, bytes, place, is_full = {}, 0, '', false

-- The record of a head in the sorted set of a state.
local function record_in(state)
  return function(_, head)
    local record = read_record(q, head.id)
    return record and record.birth == head.birth and record.status == state and record or nil
  end
end

local function gather(streams, group, priority, read, pick)
  while not is_full do
    local stream, head = (pick or first_of)(streams)
    if not stream then
      return
    end
    local record = read(q, head)
    if record then
      if #records == limit or (bytes + record.bytes > BYTES_MAX and #records > 0) then
        is_full = true
        return
      end
      bytes = bytes + record.bytes
      records[#records + 1] = shown(q, record)
      place = string.format('%d %d %.0f %.0f %s', group, priority, head.at, head.birth, version)
    end
    stream.pop()
  end
end

-- The stream whose head ended last, and that head.
local function last_of(streams)
  local best, best_head
  for _, stream in ipairs(streams) do
    local head = stream.head()
    if head and (not best or head.at > best_head.at
        or (head.at == best_head.at and head.birth > best_head.birth)) then
      best, best_head = stream, head
    end
  end
  return best, best_head
end

local function finished_record(_, head)
  local record = read_record(q, head.id)
  return record and record.birth == head.birth and FINISHED[record.status] and record or nil
end

local sort = ARGV[8]
if sort ~= '' then
  local streams, is_newest = {}, sort == 'newest'
  for i = 9, #ARGV do
    local key = state_key(q, ARGV[i])
    local seek = is_newest and seek_before or seek_sorted
    streams[#streams + 1] = sorted_stream(key, after and seek(key) or 0, any, is_newest)
  end
  gather(streams, 1, 0, finished_record, is_newest and last_of or first_of)
  return answer({records, is_full and place or ''})
end

for group = after and after.group or 1, #ARGV - 8 do
  local state = ARGV[group + 8]
  local from_cursor = after and after.group == group
  if state == 'ready' then
    for _, lanes in ipairs(levels()) do
      if not from_cursor or lanes.priority <= after.priority then
        gather(ready_streams(lanes, from_cursor and lanes.priority == after.priority), group, lanes.priority,
          record_of(state))
      end
    end
  elseif state == 'waiting' then
    gather(waiting_streams(from_cursor), group, 0, record_of(state))
  else
    local key = state_key(q, state)
    gather({sorted_stream(key, from_cursor and seek_sorted(key) or 0, any)}, group, 0, record_in(state))
  end
end
return answer({records, is_full and place or ''})
