-- Counts what queues hold.
--
-- ARGV  queues to the end
-- Body  per queue false if there is none, else {counts, oldest, rate_at, bundles}: counts in the order
--       waiting, ready, assigned, running, pausing, cancelling, paused, done, failed, cancelled; since
--       when the oldest ready task is ready, and when the rate lets the next go (0: none, it does); how
--       many bundles

chunk_size = 1

local function oldest_ready(q)
  local oldest = 0
  local function consider(at)
    if oldest == 0 or at < oldest then
      oldest = at
    end
  end
  for _, lane in pairs(lanes_of(q)) do
    local head = lane.tail > lane.head and list_stream(q, lane, 0).head()
    if head then
      consider(head.at)
    end
    head = sorted_stream(lane.due, 0, is_due).head()
    if head then
      consider(head.at)
    end
  end
  return oldest
end

local function rate_at(q)
  if not q.limit or not q.level then
    return 0
  end
  local level = math.min(q.level + math.max(now - q.filled, 0) * q.limit, q.limit * q.per)
  return level < q.per and now + math.ceil((q.per - level) / q.limit) or 0
end

local function stats(q)
  local ready, queued = ready_count(q), 0
  for _, lane in pairs(lanes_of(q)) do
    queued = queued + lane.tail - lane.head - lane.holes + call('ZCARD', lane.due)
  end
  local counts = {queued - ready, ready}
  for _, state in ipairs(STATES) do
    counts[#counts + 1] = call('ZCARD', state_key(q, state))
  end
  return {counts, oldest_ready(q), rate_at(q), call('ZCARD', prefix .. 'bundles:' .. q.escaped)}
end

local body = {}
for i = 5, #ARGV do
  local q = open(ARGV[i])
  body[#body + 1] = q and stats(q) or false
end
return answer(body)
