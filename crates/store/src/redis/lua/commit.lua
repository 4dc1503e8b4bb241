-- Commits decisions about tasks, each whole or not at all.
--
-- ARGV  changes to the end, each:
--       queue, id, birth, change: the version the decision was made from
--       fate: same, keep, rewrite, reserve, remove
--       receipt: 4 digits of its string and 10 bytes, or ''
--       keep and rewrite: status, ready, lane, expiry or '', end of the hold or '', end of the task or
--         '', end of its keeping or '', the number of fields, and those (for keep only those that
--         change); rewrite: whether the payload gets a key of its own, and then that
--       reserve: until when
--       number of tasks it makes, each: the number of a shard and the task packed, or 'here', its queue,
--         the number of the queue's initial fields, those, and the task as `pushed_task` reads it
-- Body  {letters}: one per change: k(ept), l(ost)


-- Fields of what was pushed; all others are of the state and go with it.
local PUSHED = {
  id = true, create = true, birth = true, due = true, priority = true, class = true, hold = true,
  expires = true, attempts = true, retry = true, unique = true, requires = true, tags = true,
  plan = true, flow = true, http = true, callback = true, notice = true, big = true,
}

-- A million in ten minutes are about 60 to a string.
local RECEIPTS_MAX = 256

if repeated then
  return answer(repeated)
end

local i = 5

local function next_arg()
  i = i + 1
  return ARGV[i - 1]
end

local function next_flat(count)
  local flat = {unpack(ARGV, i, i + count - 1)}
  i = i + count
  return flat
end

-- The record's fields of state that are not among the new ones.
local function outdated(key, fields)
  local is_new = {}
  for n = 1, #fields, 2 do
    is_new[fields[n]] = true
  end
  local names = {}
  for _, name in ipairs(call('HKEYS', key)) do
    local stem = string.match(name, '^%a+')
    if stem and not PUSHED[stem] and not is_new[name] then
      names[#names + 1] = name
    end
  end
  return names
end

local function read_placement()
  local task = {
    status = next_arg(), ready = tonumber(next_arg()), lane = next_arg(), expires = tonumber(next_arg()),
    hold = tonumber(next_arg()), finished = tonumber(next_arg()), keep = tonumber(next_arg()),
  }
  task.fields = next_flat(tonumber(next_arg()))
  return task
end

local function store(q, record, task, is_whole)
  local key = task_key(q, task.id)
  task.birth = record.birth
  unindex(q, record)
  index(q, task)
  local fields = task.fields
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

-- Receipts of ten minutes lie in many strings, each receipt 10 bytes and its time, so that they take
-- little memory and one command. A string that is full begins anew with its newer half.
local function leave_receipt(receipt)
  local key = receipt_key(receipt, now)
  local length = call('APPEND', key, string.sub(receipt, 5) .. struct.pack('>I4', now % RECEIPT_MS))
  if length == RECEIPT_BYTES then
    call('PEXPIRE', key, 3 * RECEIPT_MS)
  elseif length > RECEIPT_BYTES * RECEIPTS_MAX then
    call('SET', key, call('GETRANGE', key, RECEIPT_BYTES * RECEIPTS_MAX / 2, -1), 'KEEPTTL')
  end
end

-- Makes a task, or notes it for the shard it belongs to.
local function spawn(is_made)
  local target = next_arg()
  if target ~= 'here' then
    local packed = next_arg()
    if is_made then
      local key = prefix .. 'outbox:' .. target
      call('RPUSH', key, whole(new_birth()) .. ' ' .. packed)
      plan(key, now)
    end
    return
  end
  local name = next_arg()
  local initial = next_flat(tonumber(next_arg()))
  local task
  task, i = pushed_task(i)
  if is_made then
    push(open(name) or create_queue(name, initial), task)
  end
end

local function change()
  local q, id = open(next_arg()), next_arg()
  local birth, version, fate, receipt = tonumber(next_arg()), tonumber(next_arg()), next_arg(), next_arg()
  local task, reserved_until
  if fate == 'keep' or fate == 'rewrite' then
    task = read_placement()
    task.id = id
    if fate == 'rewrite' and next_arg() == '1' then
      task.payload = next_arg()
    end
  elseif fate == 'reserve' then
    reserved_until = tonumber(next_arg())
  end
  local record = q and find(q, id)
  local is_current = record and record.birth == birth and record.change == version
  if is_current and fate ~= 'same' then
    if task then
      store(q, record, task, fate == 'rewrite')
    else
      unindex(q, record)
      delete(q, id, record.big)
    end
    if reserved_until then
      call('ZADD', q.reserved, whole(reserved_until), id)
      plan(q.reserved, reserved_until)
      q.has_reserved = true
    end
    if receipt ~= '' then
      leave_receipt(receipt)
    end
  end
  for _ = 1, tonumber(next_arg()) do
    spawn(is_current)
  end
  return is_current and 'k' or 'l'
end

local letters = {}
while i <= #ARGV do
  letters[#letters + 1] = change()
end
return finish({table.concat(letters)})
