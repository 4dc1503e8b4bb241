-- Compares the records of a queue with its indexes, a piece at a time, and mends what differs if asked to.
-- A record says where it belongs; an index that disagrees is wrong.
--
-- ARGV  queue, 1 to mend, step, position ('0' to begin)
--       step: 'records' (position: a cursor of SCAN), the name of an index without the prefix (position:
--       a rank or place in it), or 'counts'
-- Body  {next, findings}: the position to go on from ('' if the step is done), and what was found, one
--       line for each

local CHUNK = 500

local q = open(ARGV[5])
local is_mending, step, position = ARGV[6] == '1', ARGV[7], ARGV[8]
local findings = {}

local function find_out(...)
  findings[#findings + 1] = string.format(...)
end

-- Where a record belongs: flat pairs of index and score; a place in a list stands for itself.
local function homes(record)
  local status = record.status
  local places
  if status == 'waiting' or status == 'ready' then
    local lane = lane_for(q, lane_name(record.priority, record.class))
    places = record.pos and {lane.list, tonumber(record.pos) - lane.head} or {lane.due, record.ready}
  elseif HELD[status] then
    places = {state_key(q, status), record.birth, q.holds, millis(record.timeout)}
  elseif FINISHED[status] then
    places = {state_key(q, status), millis(record.finished), q.keeps, millis(record.keep)}
  else
    places = {state_key(q, status), record.birth}
  end
  if record.bundle and not FINISHED[status] then
    places[#places + 1], places[#places + 2] = q.deliveries, record.birth
  end
  return places
end

local function is_at_home(record, key, score)
  if record.pos and key ~= q.deliveries then
    return score >= 0 and call('LINDEX', key, score) == record.id
  end
  return tonumber(call('ZSCORE', key, entry(record.birth, record.id)) or -1) == score
end

-- Puts a record where it belongs; one that lost its place in a list gets a new one.
local function bring_home(record)
  local task = {
    id = record.id, birth = record.birth, status = record.status, ready = record.ready,
    lane = lane_name(record.priority, record.class), bundle = record.bundle,
    hold = HELD[record.status] and millis(record.timeout) or nil,
    finished = FINISHED[record.status] and millis(record.finished) or nil,
    keep = FINISHED[record.status] and millis(record.keep) or nil,
  }
  index(q, task)
  local key = task_key(q, record.id)
  if task.pos then
    call('HSET', key, 'pos', task.pos)
  elseif record.pos then
    call('HDEL', key, 'pos')
  end
end

-- Where the tasks of a record's holder are entered, if that is kept.
local function held_home(record)
  return q.is_dispatch and HELD[record.status] and record.worker and held_key(record.worker)
end

local function check_record(id)
  local record = read_record(q, id)
  if not record then
    return
  end
  local lane = lane_name(record.priority, record.class)
  local is_waiting = record.status == 'waiting' or record.status == 'ready'
  if not is_waiting then
    -- The place it had, before it was taken.
    record.pos = nil
  end
  if is_waiting and not lanes_of(q)[lane] then
    find_out('task %s of queue %s is in lane %s, which is not known', id, q.name, lane)
    if is_mending then
      -- Nothing is known of its list any more; all who were there get new places.
      call('DEL', lane_for(q, lane).list)
    end
  end
  local held, member = held_home(record), q.escaped .. ':' .. id
  if held and call('SISMEMBER', held, member) == 0 then
    find_out('task %s of queue %s is %s, but not in %s', id, q.name, record.status, held)
    if is_mending then
      move_holding(q, record.worker, id, 1)
    end
  end
  local places = homes(record)
  for i = 1, #places, 2 do
    if not is_at_home(record, places[i], places[i + 1]) then
      find_out('task %s of queue %s is %s, but not in %s', id, q.name, record.status, places[i])
      if is_mending and places[i] == q.deliveries then
        add(q.deliveries, record.birth, entry(record.birth, record.id))
      elseif is_mending then
        bring_home(record)
      end
      return
    end
  end
end

local function check_records()
  local pattern = string.gsub(prefix .. 't:' .. q.escaped, '[%*%?%[%]%^\\]', '\\%0') .. ':*'
  local scanned = call('SCAN', position, 'MATCH', pattern, 'COUNT', CHUNK)
  for _, key in ipairs(scanned[2]) do
    check_record(unescape(string.sub(key, #prefix + #q.escaped + 4)))
  end
  return scanned[1] ~= '0' and scanned[1] or ''
end

-- Whether a record says that it belongs to an index.
local function belongs(record, key)
  local places = homes(record)
  for i = 1, #places, 2 do
    if places[i] == key then
      return true
    end
  end
  return record.expires and key == q.expiries
end

local function check_sorted(key)
  local from = tonumber(position)
  local entries = call('ZRANGE', key, from, from + CHUNK - 1)
  local removed = 0
  for _, text in ipairs(entries) do
    local birth, id = parse_entry(text)
    local record = read_record(q, id)
    if not record or record.birth ~= birth or not belongs(record, key) then
      find_out('%s has %s, but no such task belongs there', key, text)
      if is_mending then
        take_out(key, text)
        removed = removed + 1
      end
    end
  end
  return #entries == CHUNK and whole(from + CHUNK - removed) or ''
end

local function check_list(lane)
  local from = tonumber(position)
  local entries = call('LRANGE', lane.list, from, from + CHUNK - 1)
  for n, id in ipairs(entries) do
    local record = id ~= '' and read_record(q, id)
    local place = lane.head + from + n - 1
    if id ~= '' and (not record or tonumber(record.pos) ~= place) then
      find_out('%s has %s, but no such task belongs there', lane.list, id)
      if is_mending then
        call('LSET', lane.list, from + n - 1, '')
      end
    end
  end
  return #entries == CHUNK and whole(from + CHUNK) or ''
end

local function check_index()
  local key = prefix .. step
  for _, lane in pairs(lanes_of(q)) do
    if lane.list == key then
      return check_list(lane)
    end
  end
  return check_sorted(key)
end

-- No task of a lane has its turn before what the lane says of its first, or it might never come.
local function check_first(lane)
  local first = tonumber(call('ZRANGE', lane.due, 0, 0, 'WITHSCORES')[2]) or math.huge
  for _, id in ipairs(call('LRANGE', lane.list, 0, 99)) do
    local record = id ~= '' and read_record(q, id)
    first = record and math.min(first, record.ready) or first
  end
  if first < lane.first_at then
    find_out('lane %s of queue %s has a task before what it says is its first', lane.name, q.name)
    if is_mending then
      lane.first_at, lane.first_birth, lane.touched = 0, 0, true
    end
  end
end

-- The lists agree with what is known of them, the number of live tasks is right, and everything that
-- has a time is on the agenda.
local function check_counts()
  local live = 0
  for _, lane in pairs(lanes_of(q)) do
    local length, holes = call('LLEN', lane.list), 0
    for from = 0, length - 1, 1000 do
      for _, id in ipairs(call('LRANGE', lane.list, from, from + 999)) do
        holes = holes + (id == '' and 1 or 0)
      end
    end
    if length ~= lane.tail - lane.head or holes ~= lane.holes then
      find_out('%s has %d entries and %d empty places, not %d and %d', lane.list, length, holes,
        lane.tail - lane.head, lane.holes)
      if is_mending then
        lane.tail, lane.holes, lane.touched = lane.head + length, holes, true
      end
    end
    live = live + length - holes + call('ZCARD', lane.due)
    check_first(lane)
  end
  for _, state in ipairs(STATES) do
    if not FINISHED[state] then
      live = live + call('ZCARD', state_key(q, state))
    end
  end
  if live ~= q.number then
    find_out('queue %s holds %d live tasks, not %d', q.name, live, q.number)
    if is_mending then
      call('HSET', q.key, 'number', live)
    end
  end
  local keys = {q.holds, q.expiries, q.keeps, q.reserved}
  for _, lane in pairs(lanes_of(q)) do
    keys[#keys + 1] = lane.due
  end
  for _, key in ipairs(keys) do
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if key ~= q.holds and key ~= q.expiries and key ~= q.keeps and key ~= q.reserved then
      first = call('ZRANGEBYSCORE', key, '(' .. whole(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    end
    local planned = tonumber(call('ZSCORE', prefix .. 'agenda', string.sub(key, #prefix + 1)))
    if first[1] and (not planned or planned > tonumber(first[2])) then
      find_out('%s is not on the agenda', key)
      if is_mending then
        plan(key, tonumber(first[2]))
      end
    end
  end
  return ''
end

if not q then
  return finish({'', {}})
end
local steps = {records = check_records, counts = check_counts}
local following = (steps[step] or check_index)()
-- What was brought home was counted before, or is counted in the last step.
q.live, q.became_ready = 0, 0
if not is_mending then
  q.lanes = {}
end
return finish({following, findings}, {'', {}})
