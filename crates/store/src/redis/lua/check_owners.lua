-- Compares the owners of a shard with their indexes, a piece at a time, and mends what differs if asked
-- to. A record says where it belongs; an index that disagrees is wrong.
--
-- ARGV  1 to mend, step, position ('0' to begin)
--       step: 'indexes' (names those that queues have of their own), a kind (records of that kind;
--       position: a cursor of SCAN, as for 'indexes'), or the name of an index without the prefix
--       (position: a rank in it)
-- Body  {next, lines}: the position to go on from ('' if the step is done), and names of indexes, or what
--       was found

local CHUNK = 500

local is_mending, step, position = ARGV[5] == '1', ARGV[6], ARGV[7]
local lines = {}

local function find_out(...)
  lines[#lines + 1] = string.format(...)
end

local function scan(pattern, visit)
  local start = string.gsub(prefix, '[%*%?%[%]%^\\]', '\\%0')
  local scanned = call('SCAN', position, 'MATCH', start .. pattern, 'COUNT', CHUNK)
  for _, key in ipairs(scanned[2]) do
    visit(string.sub(key, #prefix + 1))
  end
  return scanned[1] ~= '0' and scanned[1] or ''
end

-- Where an owner belongs: flat triples of index, member and score, '' if it does not.
local function homes(o)
  local v = call('HMGET', o.meta, 'timer', 'due', 'alarm')
  o.timer, o.due, o.alarm = v[1] or '', v[2] or '', v[3] or ''
  local places = {
    o.names, o.name, '0', prefix .. o.kind .. 's', o.queue, '0', alarm_key, o.alarm_member, o.alarm,
  }
  local more = {}
  if o.kind == 'bundle' then
    more = {o.timer_key, o.timer_member, o.timer, o.due_key, o.name, o.due}
  elseif o.kind == 'plan' then
    more = {o.timer_key, o.timer_member, o.timer, prefix .. 'plan:ids', o.name .. ' ' .. o.queue, '0'}
  end
  for _, text in ipairs(more) do
    places[#places + 1] = text
  end
  return places
end

local function check_record(o)
  if not find_owner(o) then
    return
  end
  local places = homes(o)
  for n = 1, #places, 3 do
    local key, member, score = places[n], places[n + 1], places[n + 2]
    if score ~= '' and tonumber(call('ZSCORE', key, member)) ~= tonumber(score) then
      find_out('%s %s of queue %s is not in %s', o.kind, o.name, o.queue, key)
      if is_mending then
        call('ZADD', key, score, member)
      end
    end
  end
  if o.alarm ~= '' then
    local planned = tonumber(call('ZSCORE', prefix .. 'agenda', 'alarm'))
    if not planned or planned > tonumber(o.alarm) then
      find_out('%s is not on the agenda for %s %s of queue %s', alarm_key, o.kind, o.name, o.queue)
      if is_mending then
        call('ZADD', prefix .. 'agenda', o.alarm, 'alarm')
        plan(alarm_key, tonumber(o.alarm))
      end
    end
  end
end

-- How the keys of a kind's records look.
local function key_of_record(kind)
  if kind == 'bundle' then
    return 'queue:*:meta', '^queue:([^/:]*)/([^:]*):meta$'
  elseif kind == 'plan' then
    return 'plan:meta:*', '^plan:meta:([^:]*):([^:]*)$'
  end
  return kind .. ':*', '^' .. kind .. ':([^:]*):([^:]*)$'
end

local function check_records()
  local wanted, form = key_of_record(step)
  return scan(wanted, function(key)
    local queue, name = string.match(key, form)
    if queue then
      check_record(owner_at(step, unescape(queue), unescape(name)))
    end
  end)
end

local function name_indexes()
  return scan('*s:*', function(key)
    if IS_KIND[string.match(key, '^(%a+)s:')] then
      lines[#lines + 1] = key
    end
  end)
end

-- The owner an entry of an index stands for; nil: it stands for none.
local function owner_of(member)
  if step == 'timer' then
    local queue, name = string.match(member, '^([^/]*)/(.*)$')
    return queue and owner_at('bundle', unescape(queue), unescape(name))
  elseif step == 'plan:time:set' then
    local queue, name = string.match(member, '^plan:msg:([^:]*):(.*)$')
    return queue and owner_at('plan', unescape(queue), unescape(name))
  elseif step == 'plan:ids' then
    local name, queue = string.match(member, '^(%S*) (.*)$')
    return queue and owner_at('plan', queue, name)
  elseif step == 'alarm' then
    return parse_alarm(member)
  end
  local kind, queue = string.match(step, '^(%a+)s:([^:]*)$')
  if not kind then
    kind, queue = 'bundle', string.match(step, '^bundles:due:([^:]*)$')
  end
  return owner_at(kind, unescape(queue), member)
end

local function belongs(member)
  if IS_KIND[string.match(step, '^(%a+)s$')] then
    return call('EXISTS', prefix .. step .. ':' .. escape(member)) == 1
  end
  local o = owner_of(member)
  if not o or not find_owner(o) then
    -- What the sweep has not got to yet is not wrong.
    return o and o.is_leftover
  end
  local places = homes(o)
  for n = 1, #places, 3 do
    if places[n] == prefix .. step and places[n + 2] ~= '' then
      return true
    end
  end
  return false
end

local function check_index()
  local key, from, removed = prefix .. step, tonumber(position), 0
  local members = call('ZRANGE', key, from, from + CHUNK - 1)
  for _, member in ipairs(members) do
    if not belongs(member) then
      find_out('%s has %s, but no such owner belongs there', key, member)
      if is_mending then
        call('ZREM', key, member)
        removed = removed + 1
      end
    end
  end
  return #members == CHUNK and whole(from + CHUNK - removed) or ''
end

local following
if step == 'indexes' then
  following = name_indexes()
elseif IS_KIND[step] then
  following = check_records()
else
  following = check_index()
end
return finish({following, lines}, {'', {}})
