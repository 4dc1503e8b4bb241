-- What workers hold of queues of mode dispatch, for all scripts that write: sets that change together with
-- the tasks. What changes is gathered here and written at the end.

-- Per worker its tasks that come (1) and go (-1); and whether something new is asked of it.
local holdings, is_asked = {}, {}

local function held_key(worker)
  return prefix .. 'held:' .. escape(worker)
end

local function move_holding(q, worker, id, by)
  local moves = holdings[worker] or {}
  local member = q.escaped .. ':' .. id
  holdings[worker] = moves
  moves[member] = (moves[member] or 0) + by
end

-- Numbers up to which homes of workers have recalled what they allowed.
local recalled = {}

-- How many more tasks a worker may have of this shard: as many as it may hold at all, or, in a Cluster, as its
-- home allows this shard; -1 if its home has recalled that. An allowance is written 'most', or 'most home number'.
local function room_for(worker, allowance)
  local most, home, number = string.match(allowance, '^(%d+) ?(%d*) ?(%d*)$')
  if home ~= '' then
    recalled[home] = recalled[home] or tonumber(call('HGET', prefix .. 'recalled', home) or 0)
    if tonumber(number) <= recalled[home] then
      return -1
    end
  end
  local load = call('SCARD', held_key(worker))
  for _, by in pairs(holdings[worker] or {}) do
    load = load + by
  end
  return math.max(most - load, 0)
end

-- Writes what has changed, and names the workers who should look.
local function flush_holdings()
  local changed = {}
  for worker, moves in pairs(holdings) do
    local is_changed = is_asked[worker]
    for member, by in pairs(moves) do
      if by ~= 0 then
        call(by > 0 and 'SADD' or 'SREM', held_key(worker), member)
        is_changed = true
      end
    end
    if is_changed then
      changed[#changed + 1] = worker
    end
  end
  return changed
end

