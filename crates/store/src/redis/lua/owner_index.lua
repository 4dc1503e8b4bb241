-- Where owners are entered: among the names of their queue, and in sorted sets by time.

local alarm_key = prefix .. 'alarm'

-- Enters an owner by its times, as its record has them; one that is new is nowhere yet.
local function place_owner(o, is_new)
  local function enter(key, score, member)
    if score ~= '' then
      call('ZADD', key, score, member)
    elseif not is_new then
      call('ZREM', key, member)
    end
  end
  if o.timer_key then
    enter(o.timer_key, o.timer, o.timer_member)
  end
  enter(alarm_key, o.alarm, o.alarm_member)
  if o.alarm ~= '' then
    plan(alarm_key, tonumber(o.alarm))
  end
  if o.due_key then
    enter(o.due_key, o.due, o.name)
  end
end

local function add_name(o)
  if call('ZADD', o.names, 0, o.name) == 1 and call('ZCARD', o.names) == 1 then
    call('ZADD', prefix .. o.kind .. 's', 0, o.queue)
  end
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
  elseif o.kind == 'plan' then
    call('UNLINK', o.meta, o.items, o.record)
  else
    call('UNLINK', o.meta, o.items)
  end
end

-- Takes an owner out of what is sorted by time.
local function displace_owner(o)
  o.timer, o.due, o.alarm = '', '', ''
  place_owner(o)
end
