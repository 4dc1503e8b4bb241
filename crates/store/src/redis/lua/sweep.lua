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

-- Removes records of a queue born before it was reset or deleted.
local function empty_trash()
  while left > 0 do
    local since, number, name = string.match(call('LINDEX', trash, 0) or '', '^(%d+) (%d+) (.*)$')
    if not since then
      return
    end
    local key = trash .. ':' .. since .. ':' .. number
    local kind = call('TYPE', key).ok
    local entries = {}
    if kind == 'list' then
      entries = call('LPOP', key, left)
    elseif kind == 'zset' then
      entries = call('ZRANGE', key, 0, left - 1)
      call('ZREMRANGEBYRANK', key, 0, left - 1)
    end
    local q = {escaped = escape(name), tasks = prefix .. 't:' .. escape(name) .. ':'}
    for _, text in ipairs(entries) do
      local id = kind == 'list' and text or select(2, parse_entry(text))
      local birth = id ~= '' and tonumber(call('HGET', task_key(q, id), 'birth'))
      if birth and birth < tonumber(since) then
        call('UNLINK', task_key(q, id), payload_key(q, id))
      end
    end
    left = left - #entries
    if call('EXISTS', key) == 0 then
      call('LPOP', trash)
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
