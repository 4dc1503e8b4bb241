-- Drops all tasks of a queue in one step: their indexes are moved aside for the sweep, and records born
-- before now count as absent.
--
-- ARGV  queue, 'reset' or 'delete'
-- Body  {'DROPPED'} or {'NOQUEUE'}

if repeated then
  return answer(repeated)
end

local q = open(ARGV[5])
if not q then
  return finish({'NOQUEUE'})
end
local since = whole(new_birth())
local trash = prefix .. 'trash'
local count = 0

local function set_aside(key)
  if call('EXISTS', key) == 1 then
    count = count + 1
    local aside = trash .. ':' .. since .. ':' .. count
    call('RENAME', key, aside)
    call('RPUSH', trash, since .. ' ' .. count .. ' ' .. q.name)
  end
end

for _, lane in pairs(lanes_of(q)) do
  set_aside(lane.list)
  set_aside(lane.due)
end
for _, state in ipairs(STATES) do
  set_aside(state_key(q, state))
end
call('UNLINK', q.holds, q.expiries, q.keeps, q.reserved, prefix .. 'lanes:' .. q.escaped)
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
publish({'queue ' .. ARGV[5]})
return finish({'DROPPED'})
