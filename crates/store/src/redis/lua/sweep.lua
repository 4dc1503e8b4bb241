-- Removes what is no longer to be kept: leftovers of queues that were reset or deleted, finished tasks
-- past their time, reservations that have ended.
--
-- ARGV  limit: records to look at, at most
-- Body  {more}: 1 if there is more to do

if repeated then
  return answer(repeated)
end

local left = tonumber(ARGV[5])
local trash = prefix .. 'trash'

local function drop_task(queue, since, id)
  local q = {escaped = escape(queue), tasks = prefix .. 't:' .. escape(queue) .. ':'}
  local birth = id ~= '' and tonumber(call('HGET', task_key(q, id), 'birth'))
  if birth and birth < since then
    call('UNLINK', task_key(q, id), payload_key(q, id))
  end
end

local OWNERS = {b = 'bundle', v = 'vote'}

local function drop_owner(kind, queue, since, name)
  local o = owner_at(OWNERS[kind], queue, name)
  local birth = tonumber(call('HGET', o.meta, 'birth'))
  if birth and birth < since then
    unlink_keys(o)
    displace_owner(o)
  end
end

-- The next entries of an index that was set aside.
local function pop_entries(key)
  if call('TYPE', key).ok == 'list' then
    return call('LPOP', key, left)
  end
  local entries = call('ZRANGE', key, 0, left - 1)
  call('ZREMRANGEBYRANK', key, 0, left - 1)
  return entries
end

-- Removes records of a queue born before it was reset or deleted.
local function empty_trash()
  while left > 0 do
    local line = call('LINDEX', trash, 0) or ''
    local since_text, kind, number, name = string.match(line, '^(%d+) ([bv]?)(%d+) (.*)$')
    if not since_text then
      return
    end
    local key, since = trash .. ':' .. since_text .. ':' .. number, tonumber(since_text)
    local is_list = call('TYPE', key).ok == 'list'
    local entries = pop_entries(key)
    for _, text in ipairs(entries) do
      if kind ~= '' then
        drop_owner(kind, name, since, text)
      else
        drop_task(name, since, is_list and text or select(2, parse_entry(text)))
      end
    end
    left = left - #entries
    if call('EXISTS', key) == 0 then
      call('LPOP', trash)
      -- The owners of a queue come before its tasks, whatever their kind.
      local more = string.find(call('LINDEX', trash, 0) or '', '^' .. since_text .. ' [bv]')
      if kind ~= '' and not more and call('HGET', prefix .. 'dropped', name) == since_text then
        call('HDEL', prefix .. 'dropped', name)
      end
    end
  end
end

-- Drops finished tasks past their time; an id may stay reserved after that.
local function drop_finished(q)
  for _, text in ipairs(call('ZRANGEBYSCORE', q.keeps, '-inf', now, 'LIMIT', 0, left)) do
    local birth, id = parse_entry(text)
    local record = find(q, id)
    if record and record.birth == birth then
      local reserved_until = find_claims(record)
      unindex(q, record)
      delete(q, id, record.big)
      if reserved_until > now then
        add(q.reserved, reserved_until, id)
        plan(q.reserved, reserved_until)
      end
    else
      take_out(q.keeps, text)
    end
    left = left - 1
  end
end

local function free_reserved(q)
  local ended = call('ZRANGEBYSCORE', q.reserved, '-inf', now, 'LIMIT', 0, left)
  if ended[1] then
    call('ZREM', q.reserved, unpack(ended))
    left = left - #ended
  end
end

empty_trash()
local due = call('ZRANGEBYSCORE', prefix .. 'agenda', '-inf', now)
for _, member in ipairs(due) do
  local kind, name = parse_agenda(member)
  local q = (kind == 'keep' or kind == 'reserved') and left > 0 and open(name)
  if q and kind == 'keep' then
    drop_finished(q)
  elseif q then
    free_reserved(q)
  end
end

-- What is done goes off the agenda, what is left says so.
return finish(function()
  local more = call('EXISTS', trash)
  for _, member in ipairs(due) do
    local kind = parse_agenda(member)
    if kind == 'keep' or kind == 'reserved' then
      local at = tonumber(call('ZRANGE', prefix .. member, 0, 0, 'WITHSCORES')[2])
      if not at then
        call('ZREM', prefix .. 'agenda', member)
      else
        call('ZADD', prefix .. 'agenda', whole(at), member)
        more = at <= now and 1 or more
      end
    end
  end
  return {more}
end)
