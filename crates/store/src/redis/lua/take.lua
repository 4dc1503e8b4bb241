-- Hands out ready tasks to takers, in their order.
--
-- ARGV  queue
--       roll: a random whole number
--       others: how many of every class that is not named (-1: all); how many classes are named, and
--       those, each with how many of it
--       how many capabilities there are (-1: it does not matter), and those
--       takers to the end, each: seed, index of its next token, most tasks, bytes it already got, hold
--       in milliseconds or '', 1 if it will confirm, worker or '', how many tasks it may hold here (see
--       held.lua) or ''
-- Body  {'NOQUEUE'}
--       {'TAKEN', again_at, open, got, left_out}: when the rate lets the next go, if that stopped it (0:
--         it did not); the taker at which the call reached its own limit, or of whom it was recalled how many
--         tasks it may hold (0: neither); per taker a list of
--         {record, hold, within, runtime}: the record as it was before, the length of its hold, the time to
--         confirm (-1: none asked for) and the longest hold (-1: no limit); or the record as it is now and
--         three times -1 where the call is a repeated one; the classes with ready tasks for which there was no more room

local ITEMS_MAX = 500
local BYTES_MAX = 16777216

-- How many tasks of a class may still go.
local others = tonumber(ARGV[7])
if others < 0 then
  others = math.huge
end
local rooms, i = {}, 9
for _ = 1, tonumber(ARGV[8]) do
  local room = tonumber(ARGV[i + 1])
  rooms[ARGV[i]] = room < 0 and math.huge or room
  i = i + 2
end

-- Classes all of whose capabilities are there; nil: all classes.
local covered
if tonumber(ARGV[i]) >= 0 then
  covered = {[''] = true}
  local is_there = {}
  for n = 1, tonumber(ARGV[i]) do
    is_there[ARGV[i + n]] = true
  end
  setmetatable(covered, {__index = function(known, class)
    local is_covered = true
    -- The names of a class are apart by an escaped line end.
    for name in string.gmatch(string.gsub(class, '%%0A', '\n'), '[^\n]+') do
      is_covered = is_covered and is_there[name] or false
    end
    known[class] = is_covered
    return is_covered
  end})
  i = i + tonumber(ARGV[i])
end
i = i + 1

local function has_room(class)
  return (rooms[class] or others) > 0 and (not covered or covered[class])
end
local function use_room(class)
  rooms[class] = (rooms[class] or others) - 1
end

local takers, total = {}, 0
while i <= #ARGV do
  takers[#takers + 1] = {
    seed = ARGV[i], index = tonumber(ARGV[i + 1]), n = tonumber(ARGV[i + 2]), bytes = tonumber(ARGV[i + 3]),
    hold = tonumber(ARGV[i + 4]), confirm = ARGV[i + 5] == '1', worker = ARGV[i + 6],
    allowance = ARGV[i + 7],
  }
  total = total + takers[#takers].n
  i = i + 8
end
chunk_size = math.max(math.min(chunk_size, total), 1)

local q = open(ARGV[5])
if not q then
  return finish({'NOQUEUE'})
end

-- A repeated call gets what it got, as far as it still has it.
if repeated and repeated[1] == 'TAKEN' then
  local got = {}
  for t, ids in ipairs(repeated[4]) do
    got[t] = {}
    for n, id in ipairs(ids) do
      local record = read_record(q, id)
      if record and record.token == takers[t].seed .. ':' .. (takers[t].index + n - 1) then
        table.insert(got[t], {shown(q, record), -1, -1, -1})
      end
    end
  end
  return answer({'TAKEN', repeated[2], repeated[3], got, repeated[5]})
elseif repeated then
  return answer(repeated)
end

-- What was not started in time is passed over.
local function is_late(record)
  local late = record.expires and call('ZSCORE', q.expiries, entry(record.birth, record.id))
  return late and tonumber(late) <= now
end

local turns = read_turns(q)

-- Candidates in the order of their turn: `peek()` the next record, `consume()` hands it out.
local function in_turn()
  local heaps, h, opened_turns, current = heaps_of(turns, has_room), 1, {}, nil
  local source = {}
  -- Entries leave a sorted set only at the end of the script; until then they are counted.
  local function take_off(stream, member)
    local lane = heaps[h][1].lane
    take_out(stream.key, member)
    lane.gone = (lane.gone or 0) + 1
    lane.touched = true
  end
  -- The lane at the top has another first task, or none.
  local function settle()
    local heap = heaps[h]
    local _, head = first_of(heap[1].streams)
    if head then
      heap[1].at, heap[1].birth = head.at, head.birth
      sift_down(heap, 1)
    else
      remove_top(heap)
    end
  end
  local function look(turn)
    local stream, head = first_of(turn.streams)
    local record = waiting_record(q, head)
    if not record then
      take_off(stream, head.member)
    elseif is_late(record) then
      turn.passed_over = turn.passed_over or head
    else
      current = {record = record, stream = stream, turn = turn, member = head.member}
      return
    end
    stream.pop()
    settle()
  end
  function source.peek()
    while not current and heaps[h] do
      local turn = heaps[h][1]
      if not turn then
        h = h + 1
      elseif not has_room(turn.class) then
        remove_top(heaps[h])
      elseif not turn.lane then
        open_turn(q, turn)
        opened_turns[#opened_turns + 1] = turn
        settle()
      elseif turn.is_moved then
        turn.is_moved = false
        settle()
      else
        look(turn)
      end
    end
    return current and current.record
  end
  function source.consume()
    if current.member then
      take_off(current.stream, current.member)
    end
    use_room(current.turn.class)
    current.stream.pop()
    -- What comes after it is read only if it is asked for.
    current.turn.is_moved = true
    current = nil
  end
  function source.close()
    for _, turn in ipairs(opened_turns) do
      local lane, stream = turn.lane, turn.streams[2]
      -- Where there is no other lane, there is nothing to be before.
      if turns[2] then
        close_turn(turn)
      end
      if stream and stream.passed > 0 then
        call('LTRIM', lane.list, stream.passed, -1)
        lane.head, lane.holes = lane.head + stream.passed, lane.holes - stream.holes
        lane.touched = true
      end
    end
  end
  return source
end

-- Candidates by chance within a priority. A pick that was not started in time, or that is an empty place
-- of a list, is drawn again; after a while the first that will do is found in order.
local function by_chance()
  math.randomseed(tonumber(ARGV[6]))
  local groups, g, current = by_priority(q, has_room), 1, nil
  local function draw(group)
    local total = 0
    for _, lane in ipairs(group) do
      local is_served = has_room(lane.class)
      lane.ready = is_served and call('ZCOUNT', lane.due, '-inf', now) or 0
      lane.listed = is_served and lane.tail - lane.head or 0
      total = total + lane.ready + lane.listed
    end
    if total == 0 then
      return nil
    end
    local place = math.random(0, total - 1)
    for _, lane in ipairs(group) do
      if place < lane.ready then
        return lane, call('ZRANGE', lane.due, place, place)[1]
      elseif place < lane.ready + lane.listed then
        return lane, nil, place - lane.ready
      end
      place = place - lane.ready - lane.listed
    end
  end
  local function look(lane, member, index)
    local birth, id
    if member then
      birth, id = parse_entry(member)
    else
      id = call('LINDEX', lane.list, index)
    end
    local record = id and id ~= '' and read_record(q, id)
    if not record or is_late(record) or (record.status ~= 'waiting' and record.status ~= 'ready') then
      return
    end
    if member and record.birth == birth or tonumber(record.pos) == lane.head + (index or -1) then
      current = {record = record, lane = lane, member = member, index = index}
    end
  end
  local function search(group)
    for _, lane in ipairs(group) do
      local is_served = has_room(lane.class)
      local stream = sorted_stream(lane.due, 0, is_due)
      while is_served and not current and stream.head() do
        look(lane, stream.head().member)
        stream.pop()
      end
      stream = list_stream(q, lane, 0)
      if is_served and not current and stream.head() then
        look(lane, nil, stream.passed)
      end
    end
  end
  local source = {}
  function source.peek()
    while not current and groups[g] do
      local tries = 0
      repeat
        local lane, member, index = draw(groups[g])
        tries = tries + 1
        if lane then
          look(lane, member, index)
        end
      until current or not lane or tries == 20
      if not current then
        search(groups[g])
      end
      if not current then
        g = g + 1
      end
    end
    return current and current.record
  end
  function source.consume()
    local lane = current.lane
    if current.member then
      call('ZREM', lane.due, current.member)
    else
      call('LSET', lane.list, current.index, '')
      lane.holes = lane.holes + 1
    end
    use_room(lane.class)
    lane.touched = true
    current = nil
  end
  function source.close() end
  return source
end

-- The queue's token bucket, counted in parts of a task, `per` of them to a task, so that a refill of
-- `limit` parts each millisecond never rounds.
local function refill()
  if q.limit then
    local full = q.limit * q.per
    local passed = math.max(now - (q.filled or now), 0)
    q.level = math.min((q.level or full) + passed * q.limit, full)
  end
end

local again_at = 0

local function may_go()
  if not q.limit then
    return true
  end
  if q.level >= q.per then
    q.level = q.level - q.per
    return true
  end
  again_at = now + math.ceil((q.per - q.level) / q.limit)
  return false
end

local assigned_key, running_key = state_key(q, 'assigned'), state_key(q, 'running')

-- Times as they are written; those of one call are few.
local texts = {}
local function text_of(ms)
  texts[ms] = texts[ms] or seconds(ms)
  return texts[ms]
end

-- How many more tasks a taker may have; -1 if that was recalled.
local function room_of(taker)
  if not q.is_dispatch or taker.allowance == '' then
    return math.huge
  end
  return room_for(taker.worker, taker.allowance)
end

local function hand_out(record, taker)
  local hold = taker.hold or (record.hold and millis(record.hold)) or q.hold
  local status = taker.confirm and 'assigned' or 'running'
  local runtime = not q.is_http and ((record.runtime and millis(record.runtime)) or q.runtime)
  local ends = now + (taker.confirm and q.confirm or math.min(hold, runtime or hold))
  local key = task_key(q, record.id)
  local token, change = taker.seed .. ':' .. taker.index, (record.change or 0) + 1
  if taker.confirm then
    call('HSET', key, 'status', status, 'timeout', text_of(ends), 'counter', record.counter + 1, 'token', token,
      'length', text_of(hold), 'change', change, 'since', text_of(now))
  else
    call('HSET', key, 'status', status, 'timeout', text_of(ends), 'counter', record.counter + 1, 'token', token,
      'length', text_of(hold), 'change', change, 'taken', text_of(now), 'starts', (record.starts or 0) + 1)
  end
  if taker.worker ~= '' then
    call('HSET', key, 'worker', taker.worker)
  end
  if record.settled then
    call('HDEL', key, 'settled')
  end
  local member = entry(record.birth, record.id)
  add(taker.confirm and assigned_key or running_key, record.birth, member)
  add(q.holds, ends, member)
  plan(q.holds, ends)
  if record.expires then
    take_out(q.expiries, member)
  end
  if q.is_dispatch and taker.worker ~= '' then
    move_holding(q, taker.worker, record.id, 1)
  end
  taker.index = taker.index + 1
  return {shown(q, record), hold, taker.confirm and q.confirm or -1, runtime or -1}
end

refill()
local held = q.concurrency and call('ZCARD', q.holds)
local source = not q.paused and (q.random and by_chance() or in_turn())
local items, bytes, stopped_at, is_wanting = 0, 0, 0, false
local got, ids = {}, {}
for t, taker in ipairs(takers) do
  got[t], ids[t] = {}, {}
  local n, room = 0, stopped_at == 0 and room_of(taker) or 0
  if room < 0 then
    stopped_at = t
  end
  while n < math.min(taker.n, room) and stopped_at == 0 do
    local record = source and (not q.concurrency or held < q.concurrency) and source.peek()
    if not record then
      is_wanting = true
      break
    end
    if taker.bytes + record.bytes > BYTES_MAX and taker.index > 0 then
      break
    elseif items == ITEMS_MAX or (bytes + record.bytes > BYTES_MAX and items > 0) then
      stopped_at = t
    elseif not may_go() then
      is_wanting = true
      break
    else
      source.consume()
      got[t][n + 1], ids[t][n + 1] = hand_out(record, taker), record.id
      taker.bytes, bytes = taker.bytes + record.bytes, bytes + record.bytes
      n, items = n + 1, items + 1
      held = held and held + 1
    end
  end
end
if source then
  source.close()
end

-- Classes whose room is used up that have ready tasks.
local left_out, is_left_out = {}, {}
for _, turn in ipairs(turns) do
  local class = turn.class
  if rooms[class] and rooms[class] <= 0 and not is_left_out[class] then
    local lane = q.lanes[turn.name] or read_lane(q, turn.name, turn.text)
    local listed = lane.tail - lane.head - lane.holes
    if listed > 0 or call('ZCOUNT', lane.due, '-inf', now) > (lane.gone or 0) then
      is_left_out[class] = true
      left_out[#left_out + 1] = class
    end
  end
end
if q.limit then
  call('HSET', q.key, 'level', whole(q.level), 'filled', seconds(now))
end
if is_wanting and not q.wanted then
  call('HSET', q.key, 'wanted', '1')
end
return finish({'TAKEN', again_at, stopped_at, got, left_out}, {'TAKEN', again_at, stopped_at, ids, left_out})
