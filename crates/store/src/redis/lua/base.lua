-- The beginning of every script: the time, the names of keys, queues and records as they are read.
--
-- KEYS[1]   the hash of the shard. Every other key has the same prefix, so that in a Cluster all that a
--           script touches lies in one slot.
-- KEYS[2]   in a Cluster only: a key that never exists, so that no script runs while the slot moves
-- ARGV[1]   the time in milliseconds; empty: Redis's own clock decides
-- ARGV[2…4] the calling node, the place and the number of its call (see index.lua); empty if it only reads
-- ARGV[5…]  what the script itself takes
--
-- Every script answers {'EMPTY'} if the shard was never set up or has lost all it had, else
-- {'OK', now, soon, queues, body}: the time, the earliest moment it put on the agenda (0: none), flat
-- triples of name, revision and number of newly ready tasks of the queues it opened, and its own answer.
--
-- Times are milliseconds here and in scores, Unix seconds with a fraction in hashes.

local call = redis.call
local prefix = string.sub(KEYS[1], 1, -6)
local shard = call('HMGET', KEYS[1], 'format', 'birth', 'cluster', 'ahead')
if not shard[1] then
  return {'EMPTY'}
end

local time = call('TIME')
local micros = time[1] * 1000000 + time[2]
-- A store that was made by `serve --dev` has a clock that is ahead of Redis's by as much as it was moved.
local now = tonumber(ARGV[1]) or math.floor(micros / 1000) + (tonumber(shard[4]) or 0)

local HELD = {assigned = true, running = true, pausing = true, cancelling = true}
local FINISHED = {done = true, failed = true, cancelled = true}
local STATES = {'assigned', 'running', 'pausing', 'cancelling', 'paused', 'done', 'failed', 'cancelled'}

local function whole(number)
  return string.format('%.0f', number)
end

local function millis(seconds)
  return math.floor(tonumber(seconds) * 1000 + 0.5)
end

local function seconds(ms)
  return string.format('%.3f', ms / 1000)
end

local function escape(name)
  if not string.find(name, '[%%:]') then
    return name
  end
  return (string.gsub(name, '[%%:]', {['%'] = '%25', [':'] = '%3A'}))
end

local function unescape(name)
  return (string.gsub(name, '%%(%x%x)', function(hex) return string.char(tonumber(hex, 16)) end))
end

-- An entry of a sorted set: equal scores go by birth, since a birth always has 16 digits.
local function entry(birth, id)
  return whole(birth) .. ':' .. id
end

local function parse_entry(text)
  return tonumber(string.sub(text, 1, 16)), string.sub(text, 18)
end

local function task_key(q, id)
  return q.tasks .. escape(id)
end

local function payload_key(q, id)
  return prefix .. 'p:' .. q.escaped .. ':' .. escape(id)
end

local function lane_name(priority, class)
  priority = priority or '0'
  return class and (priority .. ':' .. class) or priority
end

-- Queues of this call by name; false: there is no such queue.
local opened = {}
local opened_names = {}

local function open(name)
  local q = opened[name]
  if q ~= nil then
    return q
  end
  local escaped = escape(name)
  local v = call('HMGET', prefix .. 'q:' .. escaped, 'rev', 'since', 'number', 'max', 'paused', 'order',
    'concurrency', 'hold', 'confirm', 'limit', 'per', 'level', 'filled', 'wanted', 'mode',
    'runtime')
  if not v[1] then
    opened[name] = false
    return false
  end
  q = {
    name = name, escaped = escaped, key = prefix .. 'q:' .. escaped, tasks = prefix .. 't:' .. escaped .. ':',
    rev = v[1], since = tonumber(v[2]), number = tonumber(v[3]), max = v[4] ~= '0' and tonumber(v[4]),
    paused = v[5] == '1', random = v[6] == 'random', concurrency = tonumber(v[7]),
    hold = millis(v[8]), confirm = millis(v[9]), limit = tonumber(v[10]), per = v[11] and millis(v[11]),
    level = tonumber(v[12]), filled = v[13] and millis(v[13]), wanted = v[14] ~= '0',
    is_dispatch = v[15] == 'dispatch', is_http = v[15] == 'http', runtime = v[16] and millis(v[16]),
    lanes = {}, became_ready = 0, live = 0, held = 0, delivering = 0,
    holds = prefix .. 'hold:' .. escaped, expiries = prefix .. 'expire:' .. escaped,
    keeps = prefix .. 'keep:' .. escaped, reserved = prefix .. 'reserved:' .. escaped,
    deliveries = prefix .. 'deliver:' .. escaped, moves = prefix .. 'moves:' .. escaped,
  }
  opened[name] = q
  opened_names[#opened_names + 1] = name
  return q
end

local function state_key(q, state)
  return prefix .. 'state:' .. q.escaped .. ':' .. state
end

-- A lane is a list of tasks that became ready one after the other, and a sorted set by ready time of all
-- that could not be appended there: not due yet, or out of turn.
--   head, tail: the places of the list's first entry and of the next to come; holes: entries taken out
--   of its middle, left empty; at, last: ready time and birth of the last one appended; first_at and
--   first_birth: no task of the lane has its turn before that.
local function read_lane(q, name, text)
  local head, tail, holes, at, last, first_at, first_birth =
    string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) ?(%d*) ?(%d*)$')
  local suffix = q.escaped .. (name == '0' and '' or ':' .. name)
  local lane = {
    name = name, head = tonumber(head), tail = tonumber(tail), holes = tonumber(holes), at = tonumber(at),
    last = tonumber(last), first_at = tonumber(first_at) or 0, first_birth = tonumber(first_birth) or 0, pushed = {}, list = prefix .. 'ready:' .. suffix, due = prefix .. 'due:' .. suffix,
  }
  q.lanes[name] = lane
  return lane
end

-- All lanes of a queue by name.
local function lanes_of(q)
  if not q.has_all_lanes then
    q.has_all_lanes = true
    local flat = call('HGETALL', prefix .. 'lanes:' .. q.escaped)
    for i = 1, #flat, 2 do
      if not q.lanes[flat[i]] then
        read_lane(q, flat[i], flat[i + 1])
      end
    end
  end
  return q.lanes
end

local function ready_count(q)
  local count = 0
  for _, lane in pairs(lanes_of(q)) do
    count = count + lane.tail - lane.head - lane.holes + call('ZCOUNT', lane.due, '-inf', now)
  end
  return count
end

-- A record's fields as HGETALL gives them, and about how large it is: by its payload and its fields in LARGE, with
-- the pieces they may be in. A record from before its queue was
-- reset or deleted counts as absent.
local function read_record(q, id)
  local fields = call('HGETALL', task_key(q, id))
  local record = {id = id, fields = fields}
  local bytes = 0
  for i = 1, #fields, 2 do
    local name, value = fields[i], fields[i + 1]
    local first = string.byte(name)
    if first >= 48 and first <= 57 then
      bytes = bytes + #value
    else
      record[name] = value
      if #value >= 64 and LARGE[string.match(name, '^[%a_]+')] then
        bytes = bytes + #value
      end
    end
  end
  record.birth = tonumber(record.birth)
  if not record.birth or record.birth < q.since then
    return nil
  end
  record.id = id
  record.ready = millis(record.ready)
  record.bytes = bytes + (tonumber(record.big) or 0)
  return record
end

-- What a script answers about a record: its fields in one piece, and its payload if that has a key of
-- its own.
local function shown(q, record)
  return {cmsgpack.pack(record.fields), record.big and call('GET', payload_key(q, record.id)) or false}
end

-- Where the receipts of a time lie: each ten minutes have strings of their own.
local RECEIPT_MS = 600000
local RECEIPT_BYTES = 12

local function receipt_key(receipt, at)
  return prefix .. 'r:' .. string.sub(receipt, 1, 4) .. ':' .. whole(math.floor(at / RECEIPT_MS))
end

-- Keys of the agenda and what they stand for: `kind:queue` or `kind:queue:lane`.
local function parse_agenda(member)
  local kind, queue = string.match(member, '^(%a+):?([^:]*)')
  return kind, unescape(queue)
end

local soon = 0

local function answer(body)
  local queues = {}
  for _, name in ipairs(opened_names) do
    local q = opened[name]
    if q then
      queues[#queues + 1] = name
      queues[#queues + 1] = q.rev
      queues[#queues + 1] = q.wakes or 0
    end
  end
  return {'OK', now, soon, queues, body}
end
