-- The lanes of a queue in the order of their turn. There may be as many as there are hosts, so one is
-- opened only when the first task it may have comes before all that are known.

-- All lanes, each as {name, text, class, priority, at, birth}: no task of it has its turn before that.
local function read_turns(q)
  local flat = call('HGETALL', prefix .. 'lanes:' .. q.escaped)
  local turns = {}
  for n = 1, #flat, 2 do
    local name, text = flat[n], flat[n + 1]
    local priority, class = string.match(name, '^(-?%d+):?(.*)$')
    local at, birth = string.match(text, '^%d+ %d+ %d+ %d+ %d+ (%d+) (%d+)$')
    turns[#turns + 1] = {
      name = name, text = text, class = class, priority = tonumber(priority), at = tonumber(at) or 0,
      birth = tonumber(birth) or 0,
    }
  end
  return turns
end

local function comes_before(a, b)
  return a.at < b.at or (a.at == b.at and a.birth < b.birth)
end

-- Turns lie in a heap: the first at the top. Moves one down to where it belongs.
local function sift_down(heap, place)
  local count, turn = #heap, heap[place]
  while true do
    local child = 2 * place
    if child < count and comes_before(heap[child + 1], heap[child]) then
      child = child + 1
    end
    if child > count or not comes_before(heap[child], turn) then
      break
    end
    heap[place], place = heap[child], child
  end
  heap[place] = turn
end

local function remove_top(heap)
  local last = table.remove(heap)
  if heap[1] then
    heap[1] = last
    sift_down(heap, 1)
  end
end

-- Turns that may be served now as heaps, one for each priority, the highest first.
local function heaps_of(turns, is_served)
  local heaps, priorities = {}, {}
  for _, turn in ipairs(turns) do
    if turn.at <= now and is_served(turn.class) then
      if not heaps[turn.priority] then
        heaps[turn.priority] = {}
        priorities[#priorities + 1] = turn.priority
      end
      table.insert(heaps[turn.priority], turn)
    end
  end
  table.sort(priorities, function(a, b) return a > b end)
  local sorted = {}
  for n, priority in ipairs(priorities) do
    local heap = heaps[priority]
    for place = math.floor(#heap / 2), 1, -1 do
      sift_down(heap, place)
    end
    sorted[n] = heap
  end
  return sorted
end

-- Opens a lane: its ready tasks come in two streams.
local function open_turn(q, turn)
  local lane = q.lanes[turn.name] or read_lane(q, turn.name, turn.text)
  lane.class, turn.lane = turn.class, lane
  turn.streams = {sorted_stream(lane.due, 0, is_due)}
  if lane.tail > lane.head then
    turn.streams[2] = list_stream(q, lane, 0)
  end
end

-- Notes in an open lane what its first task is now, so that it is not opened for nothing again. Tasks that
-- were passed over stay.
local function close_turn(turn)
  local _, head = first_of(turn.streams)
  head = turn.passed_over or head or {at = now + 1, birth = 0}
  local lane = turn.lane
  if head.at > lane.first_at or (head.at == lane.first_at and head.birth > lane.first_birth) then
    lane.first_at, lane.first_birth, lane.touched = head.at, head.birth, true
  end
end

