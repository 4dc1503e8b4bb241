-- Owners, that is bundles and plans: the names of their keys, and their records as they are read.
--
-- A record says by itself in which sorted sets it stands and with which score: `timer` (for people, in
-- Unix seconds), `due` and `alarm` (milliseconds).

-- An owner by its kind ('bundle' or 'plan'), queue and name, with the names of its keys.
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
  else
    local place = escaped .. ':' .. escape(name)
    o.timer_key, o.timer_member = prefix .. 'plan:time:set', 'plan:msg:' .. place
    o.items, o.record = prefix .. 'plan:work:' .. place, prefix .. 'plan:msg:' .. place
    o.meta = prefix .. 'plan:meta:' .. place
  end
  return o
end

-- The owner whose alarm this is; nil: of none.
local function parse_alarm(member)
  local kind, queue, name = string.match(member, '^(%a+):([^:]*):(.*)$')
  if kind == 'bundle' or kind == 'plan' then
    return owner_at(kind, unescape(queue), unescape(name))
  end
end

-- Bundles born before this are gone, though the sweep has not got to them yet.
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
  elseif o.kind == 'bundle' and birth < dropped(o.queue) then
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
  local v = call('HMGET', o.meta, 'record', 'packed')
  local record = o.kind == 'plan' and lenient_call('GET', o.record) or v[1]
  local data = o.kind == 'bundle' and lenient_call('SMEMBERS', o.data) or {}
  local bytes = #(record or '') + #(v[2] or '')
  for _, text in ipairs(data) do
    bytes = bytes + #text
  end
  return {o.kind, o.queue, o.name, whole(o.birth), o.change, record, v[2], data}, bytes
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
