-- Decisions about tasks: how scripts read them from ARGV, and how they carry them out. The body of
-- commit.lua says what stands in ARGV.

-- A million in ten minutes are about 60 to a string.
local RECEIPTS_MAX = 256

local i = 5

local function next_arg()
  i = i + 1
  return ARGV[i - 1]
end

local function next_number()
  return tonumber(next_arg())
end

-- A list whose length comes before it.
local function next_list()
  local list = {}
  for n = 1, next_number() do
    list[n] = next_arg()
  end
  return list
end

-- The record's fields of state that are not among the new ones. PUSHED, the fields of what was pushed, comes
-- from names.rs, and so does LARGE in base.lua.
local function outdated(key, fields)
  local is_new = {}
  for n = 1, #fields, 2 do
    is_new[fields[n]] = true
  end
  local names = {}
  for _, name in ipairs(call('HKEYS', key)) do
    local stem = string.match(name, '^[%a_]+')
    if stem and not PUSHED[stem] and not is_new[name] then
      names[#names + 1] = name
    end
  end
  return names
end

local function read_placement()
  local task = {
    status = next_arg(), ready = next_number(), lane = next_arg(), expires = next_number(),
    hold = next_number(), finished = next_number(), keep = next_number(),
  }
  task.fields = next_list()
  return task
end

-- Who holds a task by its new fields.
local function worker_in(fields)
  for n = 1, #fields, 2 do
    if fields[n] == 'worker' then
      return fields[n + 1]
    end
  end
end

-- How many moves of a queue are remembered, and for how long after the last.
local MOVES_MAX = 10000
local MOVES_SECONDS = 3600

-- Remembers where a task stood, if it is in the same state as before, but at another place there: a list
-- that began before shows it where it stood (see list.lua).
local function note_move(q, record, task)
  local waits = record.ready and (task.status == 'waiting' or task.status == 'ready')
  local is_ready = waits and record.ready <= now
  if not waits or is_ready ~= (task.ready <= now) then
    return
  end
  local priority = is_ready and tonumber(record.priority or 0) or 0
  local new_priority = is_ready and tonumber(string.match(task.lane, '^-?%d+')) or 0
  if record.ready ~= task.ready or priority ~= new_priority then
    local version = whole(new_birth())
    call('ZADD', q.moves, version, string.format('%s %s %d %.0f %s', version, is_ready and 'ready' or 'waiting',
      priority, record.ready, record.entry))
    call('ZREMRANGEBYRANK', q.moves, 0, -MOVES_MAX - 1)
    call('EXPIRE', q.moves, MOVES_SECONDS)
  end
end

local function store(q, record, task, is_whole)
  local key = task_key(q, task.id)
  local fields = task.fields
  task.birth, task.bundle = record.birth, record.bundle
  task.worker = q.is_dispatch and task.hold and worker_in(fields)
  if task.worker and task.status ~= record.status and (task.status == 'pausing' or task.status == 'cancelling') then
    is_asked[task.worker] = true
  end
  note_move(q, record, task)
  unindex(q, record)
  index(q, task)
  fields[#fields + 1], fields[#fields + 2] = 'change', record.change + 1
  if task.pos then
    fields[#fields + 1], fields[#fields + 2] = 'pos', task.pos
  end
  if is_whole then
    delete(q, task.id, record.big)
    fields[#fields + 1], fields[#fields + 2] = 'birth', whole(record.birth)
  else
    local names = outdated(key, fields)
    if names[1] then
      call('HDEL', key, unpack(names))
    end
  end
  call('HSET', key, unpack(fields))
  if task.payload then
    call('SET', payload_key(q, task.id), task.payload)
  end
end

-- Receipts of ten minutes lie in many strings, each receipt 8 bytes and its time, so that they take
-- little memory and one command. A string that is full begins anew with its newer half.
local function leave_receipt(receipt, at)
  local key = receipt_key(receipt, at)
  local length = call('APPEND', key, string.sub(receipt, 5) .. struct.pack('>I4', at % RECEIPT_MS))
  if length == RECEIPT_BYTES then
    call('PEXPIRE', key, 3 * RECEIPT_MS)
  elseif length > RECEIPT_BYTES * RECEIPTS_MAX then
    call('SET', key, call('GETRANGE', key, RECEIPT_BYTES * RECEIPTS_MAX / 2, -1), 'KEEPTTL')
  end
end

-- A task to be made: here, or in the shard it belongs to.
local function read_spawn()
  local target = next_arg()
  if target ~= 'here' then
    return {target = target, packed = next_arg()}
  end
  local made = {name = next_arg(), initial = next_list()}
  made.task, i = pushed_task(i)
  return made
end

local function read_spawns()
  local spawns = {}
  for n = 1, next_number() do
    spawns[n] = read_spawn()
  end
  return spawns
end

-- Makes a task, or notes it for the shard it belongs to.
local function spawn(made)
  if made.target then
    local key = prefix .. 'outbox:' .. made.target
    call('RPUSH', key, whole(new_birth()) .. ' ' .. made.packed)
    plan(key, now)
  else
    push(open(made.name) or create_queue(made.name, made.initial), made.task)
  end
end

local function read_change()
  local change = {
    q = open(next_arg()), id = next_arg(), birth = next_number(), version = next_number(), fate = next_arg(),
    receipt = next_arg(), allowance = next_arg(),
  }
  if change.fate == 'keep' or change.fate == 'rewrite' then
    change.task = read_placement()
    change.task.id = change.id
    if change.fate == 'rewrite' and next_arg() == '1' then
      change.task.payload = next_arg()
    end
  elseif change.fate == 'reserve' then
    change.reserved_until = next_number()
  end
  change.spawns = read_spawns()
  return change
end

-- Whether who gets the task may have one more.
local function has_room(change)
  return change.allowance == '' or room_for(worker_in(change.task.fields), change.allowance) > 0
end

-- Whether the record is still the version the decision was made from, and it can be carried out.
local function is_current(change)
  local record = change.q and find(change.q, change.id)
  change.record = record
  return record and record.birth == change.birth and record.change == change.version and has_room(change)
end

-- Carries out a decision about a record that `is_current` has found.
local function apply(change)
  local q, id, record = change.q, change.id, change.record
  if change.fate ~= 'same' then
    if change.task then
      store(q, record, change.task, change.fate == 'rewrite')
    else
      unindex(q, record)
      delete(q, id, record.big)
    end
    if change.reserved_until then
      call('ZADD', q.reserved, whole(change.reserved_until), id)
      plan(q.reserved, change.reserved_until)
      q.has_reserved = true
    end
    if change.receipt ~= '' then
      leave_receipt(change.receipt, now)
    end
  end
  for _, made in ipairs(change.spawns) do
    spawn(made)
  end
end
