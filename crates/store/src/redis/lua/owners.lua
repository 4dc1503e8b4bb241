-- Owners: the names of their keys, and their records as they are read.
--
-- A record says by itself in which sorted sets it stands and with which score: `timer` (for people, in
-- Unix seconds), `due` and `alarm` (milliseconds).

local KINDS = {'bundle', 'plan', 'flow', 'step', 'worker', 'vote', 'token'}
local IS_KIND = {}
for _, kind in ipairs(KINDS) do
  IS_KIND[kind] = true
end
-- Those that are made only in a queue that exists, and go with it.
local GOES_WITH_QUEUE = {bundle = true, vote = true}

-- An owner by its kind, queue and name, with the names of its keys. A bundle and a plan have keys that
-- people know; all others are alike.
local function owner_at(kind, queue, name)
  local escaped = escape(queue)
  local o = {
    kind = kind, queue = queue, name = name, names = prefix .. kind .. 's:' .. escaped,
    alarm_member = kind .. ':' .. escaped .. ':' .. escape(name),
  }
  if kind == 'bundle' then
    o.timer_key, o.timer_member = prefix .. 'timer', escaped .. '/' .. escape(name)
    o.due_key = prefix .. 'bundles:due:' .. escaped
    o.items = prefix .. 'queue:' .. o.timer_member
    o.meta, o.data, o.locker = o.items .. ':meta', o.items .. ':data', o.items .. ':locker'
    o.overwrite, o.start = o.items .. ':overwrite', o.items .. ':start'
  elseif kind == 'plan' then
    local place = escaped .. ':' .. escape(name)
    o.timer_key, o.timer_member = prefix .. 'plan:time:set', 'plan:msg:' .. place
    o.items, o.record = prefix .. 'plan:work:' .. place, prefix .. 'plan:msg:' .. place
    o.meta = prefix .. 'plan:meta:' .. place
  else
    o.meta = prefix .. kind .. ':' .. escaped .. ':' .. escape(name)
    o.items = o.meta .. ':items'
  end
  return o
end

-- The owner whose alarm this is; nil: of none.
local function parse_alarm(member)
  local kind, queue, name = string.match(member, '^(%a+):([^:]*):(.*)$')
  if IS_KIND[kind] then
    return owner_at(kind, unescape(queue), unescape(name))
  end
end

-- What goes with a queue and was born before this is gone, though the sweep has not got to them yet.
local dropped_at = {}
local function dropped(queue)
  dropped_at[queue] = dropped_at[queue] or tonumber(call('HGET', prefix .. 'dropped', queue) or 0)
  return dropped_at[queue]
end

-- Whether there is such an owner; sets its version. `is_leftover` says that there was one before its queue
-- was reset or deleted.
local function find_owner(o)
  local v = call('HMGET', o.meta, 'birth', 'change')
  local birth = tonumber(v[1])
  if not birth then
    return false
  elseif GOES_WITH_QUEUE[o.kind] and birth < dropped(o.queue) then
    o.is_leftover = true
    return false
  end
  o.birth, o.change = birth, tonumber(v[2])
  return true
end

-- A command on a key that somebody may have put something else under: false, then.
local function lenient_call(...)
  local answered = redis.pcall(...)
  return (type(answered) ~= 'table' or not answered.err) and answered
end

-- What a script answers about an owner that was found: kind, queue, name, birth, change, its record or
-- false, what is packed beside it or false, and the strings kept with it. Also says about how large it is.
local function shown_owner(o)
  local v = call('HMGET', o.meta, 'packed', o.kind == 'bundle' and 'record' or 'packed')
  -- All there is to know of the others is packed.
  local record = o.kind == 'plan' and lenient_call('GET', o.record) or o.kind == 'bundle' and v[2]
  local data = o.kind == 'bundle' and lenient_call('SMEMBERS', o.data) or {}
  local bytes = #(record or '') + #(v[1] or '')
  for _, text in ipairs(data) do
    bytes = bytes + #text
  end
  return {o.kind, o.queue, o.name, whole(o.birth), o.change, record, v[1], data}, bytes
end

-- The queue that has a plan of an id, if one of this shard has.
local function station_of(id)
  local found = call('ZRANGEBYLEX', prefix .. 'plan:ids', '[' .. id .. ' ', '(' .. id .. '!', 'LIMIT', 0, 1)
  return found[1] and string.sub(found[1], #id + 2)
end

-- Most bytes of one answer, but for a single owner or item.
local OWNERS_BYTES_MAX = 16777216

-- The lengths of a plan's items, and that of the array they stand in. An array that was changed by hand
-- counts as empty.
local function read_lengths(o)
  local lengths, size = {}, 1
  for length in string.gmatch(call('HGET', o.meta, 'lengths') or '', '%d+') do
    lengths[#lengths + 1] = tonumber(length)
    size = size + length + 1
  end
  if lengths[1] and call('STRLEN', o.items) ~= size then
    return {}, 0
  end
  return lengths, size
end
