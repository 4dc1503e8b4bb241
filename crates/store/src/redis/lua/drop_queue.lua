-- Drops all tasks, bundles and votes of a queue in one step: their indexes are moved aside for the sweep,
-- and records born before now count as absent. Plans stay.
--
-- ARGV  queue, 'reset' or 'delete'
-- Body  {'DROPPED'} or {'NOQUEUE'}

if repeated then
  return answer(repeated)
end

local name = ARGV[5]
local q = open(name)
if not q then
  return finish({'NOQUEUE'})
end
local since = whole(new_birth())
local trash = prefix .. 'trash'
local count = 0

-- `kind` is 'b' for an index of bundles, 'v' for one of votes, '' for one of tasks.
local function set_aside(key, kind)
  if call('EXISTS', key) == 1 then
    count = count + 1
    call('RENAME', key, trash .. ':' .. since .. ':' .. count)
    call('RPUSH', trash, since .. ' ' .. kind .. count .. ' ' .. name)
  end
end

for kind, plural in pairs({b = 'bundles', v = 'votes'}) do
  set_aside(prefix .. plural .. ':' .. q.escaped, kind)
  call('ZREM', prefix .. plural, name)
end
if count > 0 then
  call('UNLINK', prefix .. 'bundles:due:' .. q.escaped)
  call('HSET', prefix .. 'dropped', name, since)
end
if q.is_dispatch then
  for state in pairs(HELD) do
    for _, text in ipairs(call('ZRANGE', state_key(q, state), 0, -1)) do
      local _, id = parse_entry(text)
      local worker = call('HGET', task_key(q, id), 'worker')
      if worker then
        move_holding(q, worker, id, -1)
      end
    end
  end
end
for _, lane in pairs(lanes_of(q)) do
  set_aside(lane.list, '')
  set_aside(lane.due, '')
end
for _, state in ipairs(STATES) do
  set_aside(state_key(q, state), '')
end
call('UNLINK', q.holds, q.expiries, q.keeps, q.reserved, q.deliveries, q.moves, prefix .. 'lanes:' .. q.escaped)
if count > 0 then
  plan(trash, now)
end
if ARGV[6] == 'delete' then
  call('DEL', q.key)
  call('ZREM', prefix .. 'queues', q.name)
else
  call('HSET', q.key, 'number', '0', 'since', since)
end
opened, opened_names = {}, {}
messages[#messages + 1] = 'queue ' .. name
return finish({'DROPPED'})
