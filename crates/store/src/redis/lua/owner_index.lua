-- Where owners are entered: among the names of their queue, and in sorted sets by time.

local alarm_key = prefix .. 'alarm'

local function enter(key, score, member)
  if score == '' then
    call('ZREM', key, member)
  else
    call('ZADD', key, score, member)
  end
end

-- Enters an owner by its times, as its record has them.
local function place_owner(o)
  enter(o.timer_key, o.timer, o.timer_member)
  enter(alarm_key, o.alarm, o.alarm_member)
  if o.alarm ~= '' then
    plan(alarm_key, tonumber(o.alarm))
  end
  if o.due_key then
    enter(o.due_key, o.due, o.name)
  end
end

local function add_name(o)
  call('ZADD', o.names, 0, o.name)
  call('ZADD', prefix .. o.kind .. 's', 0, o.queue)
  if o.kind == 'plan' then
    call('ZADD', prefix .. 'plan:ids', 0, o.name .. ' ' .. o.queue)
  end
end

local function remove_name(o)
  call('ZREM', o.names, o.name)
  if call('EXISTS', o.names) == 0 then
    call('ZREM', prefix .. o.kind .. 's', o.queue)
  end
  if o.kind == 'plan' then
    call('ZREM', prefix .. 'plan:ids', o.name .. ' ' .. o.queue)
  end
end

-- Removes all keys of an owner.
local function unlink_keys(o)
  if o.kind == 'bundle' then
    call('UNLINK', o.meta, o.items, o.data, o.locker, o.overwrite, o.start)
  else
    call('UNLINK', o.meta, o.items, o.record)
  end
end

-- Takes an owner out of what is sorted by time.
local function displace_owner(o)
  o.timer, o.due, o.alarm = '', '', ''
  place_owner(o)
end
