-- The second part of every script that writes: calls are remembered, records move between indexes, and
-- who waits is told. Nothing is decided here.
--
-- A node numbers its calls and gives each a place that no other call of it has at the time. The shard
-- keeps, per node and place, the number and the answer of the last call there: a call that is repeated
-- because its answer was lost is answered again without a second effect, and one that arrives after its
-- place was given to another has no effect at all ({'LATE'}).

-- A write that needs no memory lets the rest of the script pass a Redis that is out of memory, unless the
-- script is one that only adds. (A slot that is on its way to another server of a Cluster is not reached
-- here: every call also names a key that never exists, and both servers refuse such a call.)
call(ADDS_ONLY and 'EXISTS' or 'DEL', prefix .. 'none')

local calls = prefix .. 'calls:' .. ARGV[2]
local repeated
do
  local last = call('HGET', calls, ARGV[3])
  local number, memory = string.match(last or '', '^(%d+) (.*)$')
  number = tonumber(number)
  if number and number > tonumber(ARGV[4]) then
    return {'LATE'}
  elseif number == tonumber(ARGV[4]) then
    repeated = cmsgpack.unpack(memory)
  end
end

local adds, removals, agenda = {}, {}, {}
-- Lines for the other nodes, told at the end.
local messages = {}

-- Entries are added and removed at the end of the script, removals first. `at` says where a member stands
-- in a list of scores and members.
local function add(key, score, member)
  local list = adds[key] or {at = {}}
  adds[key] = list
  local place = list.at[member] or #list + 1
  list[place], list[place + 1], list.at[member] = score, member, place
end

local function take_out(key, member)
  local list = removals[key] or {}
  removals[key] = list
  list[#list + 1] = member
  -- What this script itself was to add is not added; the last takes its place.
  local added = adds[key]
  local place = added and added.at[member]
  if place then
    local last = #added - 1
    added[place], added[place + 1] = added[last], added[last + 1]
    added.at[added[last + 1]] = place
    added.at[member], added[last], added[last + 1] = nil, nil, nil
  end
end

local function call_in_chunks(command, key, list)
  for first = 1, #list, 4000 do
    call(command, key, unpack(list, first, math.min(first + 3999, #list)))
  end
end

-- Something is to be looked at, at a time. The agenda knows the earliest moment per key.
local function plan(key, at)
  local member = string.sub(key, #prefix + 1)
  agenda[member] = math.min(agenda[member] or at, at)
end

local last_birth = tonumber(shard[2])
local first_birth = math.max(last_birth + 1, micros)

-- A number greater than any before, also after a failover that lost some: it is not behind the clock.
local function new_birth()
  last_birth = math.max(last_birth + 1, micros)
  return last_birth
end

-- A lane by its name, which will be written again. A queue may have many; only this one is read.
local function lane_for(q, name)
  local lane = q.lanes[name]
  if not lane then
    local text = not q.has_all_lanes and call('HGET', prefix .. 'lanes:' .. q.escaped, name)
    lane = read_lane(q, name, text or '0 0 0 0 0')
    if not text then
      lane.first_at = math.huge
    end
  end
  lane.touched = true
  return lane
end

-- Puts a task in its lane. Sets `pos`, its place in the list, if it went there.
local function enqueue(q, task)
  local lane = lane_for(q, task.lane)
  if task.ready < lane.first_at or (task.ready == lane.first_at and task.birth < lane.first_birth) then
    lane.first_at, lane.first_birth = task.ready, task.birth
  end
  local in_turn = lane.head == lane.tail or task.ready > lane.at
    or (task.ready == lane.at and task.birth > lane.last)
  if task.ready <= now and in_turn and not task.expires and not q.random then
    task.pos = lane.tail
    lane.tail, lane.at, lane.last = lane.tail + 1, task.ready, task.birth
    lane.pushed[#lane.pushed + 1] = task.id
  else
    add(lane.due, task.ready, entry(task.birth, task.id))
    if task.ready > now then
      plan(lane.due, task.ready)
    end
  end
  if task.ready <= now then
    q.became_ready = q.became_ready + 1
  end
end

local function dequeue(q, record)
  local lane = lane_for(q, lane_name(record.priority, record.class))
  if not record.pos then
    take_out(lane.due, record.entry)
    return
  end
  local index = tonumber(record.pos) - lane.head
  if index >= 0 and call('LINDEX', lane.list, index) == record.id then
    call('LSET', lane.list, index, '')
    lane.holes = lane.holes + 1
  end
end

-- What is needed of a record to take it out of its indexes; nil: no such task, and the birth of one from
-- before its queue was reset or deleted.
local function find(q, id)
  local key = task_key(q, id)
  local v = call('HMGET', key, 'birth', 'change', 'status', 'expires', 'big', 'bundle')
  local birth = tonumber(v[1])
  if not birth or birth < q.since then
    return nil, birth
  end
  local record = {
    id = id, key = key, birth = birth, entry = v[1] .. ':' .. id, change = tonumber(v[2]) or 0, status = v[3],
    expires = v[4], big = v[5], bundle = v[6],
  }
  if record.status == 'waiting' or record.status == 'ready' then
    v = call('HMGET', key, 'pos', 'priority', 'class', 'ready')
    record.pos, record.priority, record.class, record.ready = v[1], v[2], v[3], v[4] and millis(v[4])
  elseif q.is_dispatch and HELD[record.status] then
    record.worker = call('HGET', key, 'worker')
  end
  return record
end

-- What keeps a finished task's id from being used again: until when it is reserved, and whether it
-- belongs to a plan, flow or bundle.
local function find_claims(record)
  local v = call('HMGET', record.key, 'reserved', 'plan', 'flow')
  return v[1] and millis(v[1]) or 0, v[2] or v[3] or record.bundle
end

local function unindex(q, record)
  local member = record.entry
  if record.status == 'waiting' or record.status == 'ready' then
    dequeue(q, record)
  else
    take_out(state_key(q, record.status), member)
    if HELD[record.status] then
      take_out(q.holds, member)
      q.held = q.held - 1
      if record.worker then
        move_holding(q, record.worker, record.id, -1)
      end
    elseif FINISHED[record.status] then
      take_out(q.keeps, member)
    end
  end
  if record.expires then
    take_out(q.expiries, member)
  end
  if not FINISHED[record.status] then
    q.live = q.live - 1
    if record.bundle then
      take_out(q.deliveries, member)
      q.delivering = q.delivering - 1
    end
  end
end

-- Puts a task into the indexes of its state: `hold`, `finished`, `keep` and `expires` are times, given
-- where they apply; `bundle` says that it delivers one, `worker` who holds it where that is kept.
local function index(q, task)
  local member = entry(task.birth, task.id)
  if task.status == 'waiting' or task.status == 'ready' then
    enqueue(q, task)
  else
    add(state_key(q, task.status), task.finished or task.birth, member)
    if task.hold then
      q.held = q.held + 1
      add(q.holds, task.hold, member)
      plan(q.holds, task.hold)
      if task.worker then
        move_holding(q, task.worker, task.id, 1)
      end
    elseif task.keep then
      add(q.keeps, task.keep, member)
      plan(q.keeps, task.keep)
    end
  end
  if task.expires then
    add(q.expiries, task.expires, member)
    plan(q.expiries, task.expires)
  end
  if not FINISHED[task.status] then
    q.live = q.live + 1
    if task.bundle then
      add(q.deliveries, task.birth, member)
      q.delivering = q.delivering + 1
    end
  end
end

local function delete(q, id, big)
  if big then
    call('UNLINK', task_key(q, id), payload_key(q, id))
  else
    call('DEL', task_key(q, id))
  end
end

-- Stores a queue as it is when it is new. `fields` is flat.
local function create_queue(name, fields)
  local escaped = escape(name)
  local birth = whole(new_birth())
  call('HSET', prefix .. 'q:' .. escaped, 'type', 'queue', 'alias', prefix .. 'ready:' .. escaped,
    'number', '0', 'since', birth, 'rev', birth, unpack(fields))
  call('ZADD', prefix .. 'queues', 0, name)
  opened[name] = nil
  local q = open(name)
  q.is_new = true
  return q
end

-- Live tasks that count for the queue's `max`: all but those that deliver bundles.
local function counted(q)
  q.delivered_before = q.delivered_before or call('ZCARD', q.deliveries)
  return q.number + q.live - q.delivered_before - q.delivering
end

-- Whether a task to push belongs to a plan, flow or bundle: such a one may replace another.
local function has_owner(task)
  for i = task.first, task.last, 2 do
    if ARGV[i] == 'plan_id' or ARGV[i] == 'flow' or ARGV[i] == 'bundle' then
      return true
    end
  end
  return false
end

-- Pushes a task that `pushed_task` has read. Answers with one letter: k(ept), d(uplicate), o(wned),
-- f(ull).
local function push(q, task, max)
  if q.has_reserved == nil then
    q.has_reserved = call('EXISTS', q.reserved) == 1
  end
  if q.has_reserved then
    local until_ms = tonumber(call('ZSCORE', q.reserved, task.id) or 0)
    if until_ms > now then
      return 'd'
    end
  end
  local key = task_key(q, task.id)
  local old, stale_birth
  if call('EXISTS', key) == 1 then
    old, stale_birth = find(q, task.id)
  end
  if old then
    if not FINISHED[old.status] then
      return 'd'
    end
    local reserved_until, is_owned = find_claims(old)
    if reserved_until > now then
      return 'd'
    elseif is_owned and not has_owner(task) then
      return 'o'
    end
  end
  if max and counted(q) >= max then
    return 'f'
  end
  if old then
    unindex(q, old)
  end
  if old or stale_birth then
    delete(q, task.id, true)
  end
  if q.has_reserved then
    call('ZREM', q.reserved, task.id)
  end
  task.birth = new_birth()
  task.status = task.ready > now and 'waiting' or 'ready'
  task.ready = math.max(task.ready, now)
  index(q, task)
  call('HSET', key, 'status', task.status, 'birth', whole(task.birth), 'ready', seconds(task.ready), 'taken', '0',
    'timeout', '0', 'counter', '0', task.pos and 'pos' or 'status', task.pos or task.status,
    unpack(ARGV, task.first, task.last))
  if task.is_big then
    call('SET', payload_key(q, task.id), ARGV[task.last + 1])
  end
  return 'k'
end

-- Reads a task to push from ARGV: id, lane, due, expiry or '', whether the payload gets a key of its
-- own, whether it delivers a bundle, the number of fields, and those; the payload comes last. Also says
-- where the next one begins.
local function pushed_task(i)
  local task = {
    id = ARGV[i], lane = ARGV[i + 1], ready = tonumber(ARGV[i + 2]), expires = tonumber(ARGV[i + 3]),
    is_big = ARGV[i + 4] == '1', bundle = ARGV[i + 5] == '1', first = i + 7, last = i + 6 + ARGV[i + 6],
  }
  return task, task.last + (task.is_big and 2 or 1)
end

-- How many of a list's entries are empty places, from its head or its tail on; at most a hundred.
local function count_holes(list, is_tail)
  local entries = call('LRANGE', list, is_tail and -100 or 0, is_tail and -1 or 99)
  local count = 0
  while entries[is_tail and #entries - count or count + 1] == '' do
    count = count + 1
  end
  return count
end

-- Takes empty places off both ends of a lane's list. Should they pile up between a few tasks, the list is
-- written anew.
local function trim(q, lane)
  if lane.holes >= lane.tail - lane.head then
    call('DEL', lane.list)
    lane.head, lane.holes = lane.tail, 0
  end
  for _, is_tail in ipairs({false, true}) do
    local count = lane.holes > 0 and count_holes(lane.list, is_tail) or 0
    while count > 0 do
      lane.holes = lane.holes - count
      if is_tail then
        call('LTRIM', lane.list, 0, -count - 1)
        lane.tail = lane.tail - count
      else
        call('LTRIM', lane.list, count, -1)
        lane.head = lane.head + count
      end
      count = lane.holes > 0 and count_holes(lane.list, is_tail) or 0
    end
  end
  local live = lane.tail - lane.head - lane.holes
  if lane.holes > 1000 and live <= 500 then
    local entries = call('LRANGE', lane.list, 0, -1)
    call('DEL', lane.list)
    lane.tail, lane.holes = lane.head, 0
    for _, id in ipairs(entries) do
      if id ~= '' then
        call('RPUSH', lane.list, id)
        call('HSET', task_key(q, id), 'pos', lane.tail)
        lane.tail = lane.tail + 1
      end
    end
  end
end

local function flush_lanes(q)
  local key = prefix .. 'lanes:' .. q.escaped
  for name, lane in pairs(q.lanes) do
    if lane.touched then
      if lane.head == lane.tail and call('EXISTS', lane.due) == 0 then
        call('HDEL', key, name)
      else
        -- Of one that was lost nothing is known.
        local first_at = lane.first_at < math.huge and lane.first_at or 0
        call('HSET', key, name, string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f', lane.head, lane.tail,
          lane.holes, lane.at, lane.last, first_at, lane.first_birth))
      end
    end
  end
end

-- Tells who waits for a queue that there is something to take. `wanted` says that somebody asked for
-- more than there was, so that a busy queue costs no messages.
local function wake(q)
  local count = q.became_ready
  if count == 0 and (q.is_changed or (q.held < 0 and q.concurrency)) then
    count = ready_count(q)
  end
  if count > 0 and not q.paused then
    q.wakes = count
    if q.wanted then
      call('HSET', q.key, 'wanted', '0')
      messages[#messages + 1] = 'ready ' .. count .. ' ' .. q.name
    end
  end
end

local function publish()
  if #messages > 0 then
    call(shard[3] == '1' and 'SPUBLISH' or 'PUBLISH', prefix .. 'action:push',
      'punctual ' .. ARGV[2] .. '\n' .. table.concat(messages, '\n'))
  end
end

local function flush_agenda()
  local key = prefix .. 'agenda'
  local head = call('ZRANGE', key, 0, 0, 'WITHSCORES')
  for member, at in pairs(agenda) do
    call('ZADD', key, 'LT', whole(at), member)
    if soon == 0 or at < soon then
      soon = at
    end
  end
  local earliest = tonumber(head[2])
  if soon > 0 and (not earliest or earliest <= now or soon < earliest) then
    messages[#messages + 1] = 'next ' .. whole(soon)
  end
end

local function flush()
  for _, q in pairs(opened) do
    for _, lane in pairs(q and q.lanes or {}) do
      call_in_chunks('RPUSH', lane.list, lane.pushed)
    end
  end
  for key, list in pairs(removals) do
    call_in_chunks('ZREM', key, list)
  end
  for key, list in pairs(adds) do
    call_in_chunks('ZADD', key, list)
  end
  for _, q in pairs(opened) do
    if q then
      for _, lane in pairs(q.lanes) do
        if lane.touched then
          trim(q, lane)
        end
      end
      if q.live ~= 0 then
        call('HINCRBY', q.key, 'number', q.live)
      end
      wake(q)
      if q.is_changed or q.is_new then
        messages[#messages + 1] = 'queue ' .. q.name
      end
      flush_lanes(q)
    end
  end
  for _, worker in ipairs(flush_holdings()) do
    messages[#messages + 1] = 'worker ' .. worker
  end
  if next(agenda) then
    flush_agenda()
  end
  if last_birth >= first_birth then
    call('HSET', KEYS[1], 'birth', whole(last_birth))
  end
  publish()
end

-- Ends a script: writes what was gathered, and remembers `memory`, or else the answer itself. A body that
-- is a function is called after the writing.
local function finish(body, memory)
  flush()
  if type(body) == 'function' then
    body = body()
  end
  call('HSET', calls, ARGV[3], ARGV[4] .. ' ' .. cmsgpack.pack(memory or body))
  -- A node that is gone is forgotten after a day; one that is not says so now and then.
  if ARGV[4] % 64 == 1 then
    call('EXPIRE', calls, 86400)
  end
  return answer(body)
end
