-- Carries out steps: changes of owners and tasks of a queue, each step whole or not at all.
--
-- ARGV  steps to the end, each:
--       key, request, blob, queue: of a keyed request, key '' for none; `blob` is kept for whoever repeats
--       it, `queue` is the one it is about
--       number of owners, each:
--         kind, queue, name; birth and change of the version it was decided from, '' for no such owner
--         'drop', or 'put' and
--           record, what is packed beside it
--           timer in seconds or '', due or '', alarm or ''
--           a bundle: random and end of its lock, when it was started, 1 if the next push sets its due
--             time, '' where not; number of strings kept with it, and those
--           how many items go; number of items to add, and those
--       number of changes, each as commit.lua reads them
--       number of tasks to make, each as there
-- Body  per step: {'DONE', births}: the births of its owners that were put, '0' for others; {'LOST'};
--       {'REPLAYED', blob}: the request was carried out before; {'REUSED'}: the key belongs to another

if repeated then
  return answer(repeated)
end

local function read_owner()
  local o = owner_at(next_arg(), next_arg(), next_arg())
  o.expected_birth, o.expected_change = next_number(), next_number()
  o.is_put = next_arg() == 'put'
  if o.is_put then
    o.text, o.packed = next_arg(), next_arg()
    o.timer, o.due, o.alarm = next_arg(), next_arg(), next_arg()
    if o.kind == 'bundle' then
      o.random, o.locked_until, o.started_at, o.is_overwrite = next_arg(), next_arg(), next_arg(), next_arg()
      o.strings = next_list()
    end
    o.drop_first, o.append = next_number(), next_list()
  end
  return o
end

local function read_step()
  local step = {
    key = next_arg(), request = next_arg(), blob = next_arg(), queue = next_arg(), owners = {}, changes = {},
  }
  for n = 1, next_number() do
    step.owners[n] = read_owner()
  end
  for n = 1, next_number() do
    step.changes[n] = read_change()
  end
  step.spawns = read_spawns()
  return step
end

-- Whether an owner may be put where it belongs: what goes with a queue into one that exists, a new plan if
-- no other queue of this shard has one of its id.
local function has_place(o)
  if o.kind ~= 'plan' then
    return not o.is_put or not GOES_WITH_QUEUE[o.kind] or open(o.queue)
  end
  local station = o.is_put and not o.birth and station_of(o.name)
  return not station or station == o.queue
end

-- Whether nothing has changed that a step was decided from.
local function is_possible(step)
  for _, o in ipairs(step.owners) do
    find_owner(o)
    if o.birth ~= o.expected_birth or o.change ~= o.expected_change or not has_place(o) then
      return false
    end
  end
  for _, change in ipairs(step.changes) do
    if not is_current(change) then
      return false
    end
  end
  return true
end

local function put_text(key, text)
  if text == '' then
    call('DEL', key)
  else
    call('SET', key, text)
  end
end

-- Brings a set to what it shall be, and writes nothing else.
local function put_set(key, strings)
  local is_missing, gone, missing = {}, {}, {}
  for _, text in ipairs(strings) do
    is_missing[text] = true
  end
  for _, text in ipairs(call('SMEMBERS', key)) do
    if is_missing[text] then
      is_missing[text] = nil
    else
      gone[#gone + 1] = text
    end
  end
  for text in pairs(is_missing) do
    missing[#missing + 1] = text
  end
  call_in_chunks('SREM', key, gone)
  call_in_chunks('SADD', key, missing)
end

-- The items of all but plans are a list.
local function put_items(o)
  if o.drop_first > 0 then
    call('LTRIM', o.items, o.drop_first, -1)
  end
  call_in_chunks('RPUSH', o.items, o.append)
end

-- A plan's items are one JSON array. Its record knows how long each is, so that none has to be parsed.
local function put_results(o)
  if o.drop_first == 0 and not o.append[1] then
    return
  end
  local lengths, size = read_lengths(o)
  local kept, from = {}, 1
  for n, length in ipairs(lengths) do
    if n <= o.drop_first then
      from = from + length + 1
    else
      kept[#kept + 1] = length
    end
  end
  local added = table.concat(o.append, ',') .. ']'
  if not kept[1] then
    call('SET', o.items, '[' .. added)
  elseif from == 1 then
    call('SETRANGE', o.items, size - 1, ',' .. added)
  else
    local rest = call('GETRANGE', o.items, from, size - 2)
    call('SET', o.items, '[' .. rest .. (o.append[1] and ',' or '') .. added)
  end
  for _, item in ipairs(o.append) do
    kept[#kept + 1] = #item
  end
  call('HSET', o.meta, 'lengths', table.concat(kept, ' '))
end

-- What people see of a bundle besides its payloads.
local function put_signs(o)
  put_text(o.start, o.started_at)
  put_text(o.overwrite, o.is_overwrite)
  put_set(o.data, o.strings)
  if o.random == '' then
    call('DEL', o.locker)
  else
    -- The record says when the lock ends; the expiry only sees to it that this key does not outlive it.
    call('SET', o.locker, o.random, 'PXAT', math.max(tonumber(o.locked_until), 1))
  end
end

local function put_owner(o)
  if o.is_leftover then
    unlink_keys(o)
  end
  local is_new = not o.birth
  if is_new and o.kind == 'vote' then
    -- Its voters may be waiting at any node.
    messages[#messages + 1] = 'vote ' .. escape(o.queue) .. ':' .. o.name
  end
  o.change = is_new and 0 or o.change + 1
  o.birth = o.birth or new_birth()
  if is_new then
    add_name(o)
  end
  place_owner(o, is_new and not o.is_leftover)
  if o.kind == 'plan' then
    call('HSET', o.meta, 'birth', whole(o.birth), 'change', o.change, 'packed', o.packed, 'timer', o.timer,
      'alarm', o.alarm)
    call('SET', o.record, o.text)
    put_results(o)
    return
  end
  call('HSET', o.meta, 'birth', whole(o.birth), 'change', o.change, 'record', o.text, 'packed', o.packed,
    'alarm', o.alarm)
  if o.kind == 'bundle' then
    call('HSET', o.meta, 'timer', o.timer, 'due', o.due)
    put_signs(o)
  end
  put_items(o)
end

local function drop_owner(o)
  if o.birth then
    unlink_keys(o)
    displace_owner(o)
    remove_name(o)
  end
end

-- Queues whose bundles have changed.
local is_told = {}

local function carry_out(step)
  local known = step.key ~= '' and recall(step.key)
  if known then
    return known[2] == step.request and {'REPLAYED', known[4]} or {'REUSED'}
  elseif not is_possible(step) then
    return {'LOST'}
  end
  for _, change in ipairs(step.changes) do
    apply(change)
  end
  local births = {}
  for n, o in ipairs(step.owners) do
    if o.is_put then
      put_owner(o)
    else
      drop_owner(o)
    end
    births[n] = o.is_put and whole(o.birth) or '0'
    if o.kind == 'bundle' then
      is_told[o.queue] = true
    end
  end
  for _, made in ipairs(step.spawns) do
    spawn(made)
  end
  if step.key ~= '' then
    remember(step.key, {now, step.request, '', step.blob, step.queue})
  end
  return {'DONE', births}
end

local body = {}
while i <= #ARGV do
  body[#body + 1] = carry_out(read_step())
end
for queue in pairs(is_told) do
  messages[#messages + 1] = 'bundles ' .. queue
end
return finish(body)
