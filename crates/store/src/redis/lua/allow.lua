-- Allows a shard to hand out tasks to workers whose home this is, so that all shards together hand out no more
-- than each can hold. What is allowed stays so until it is recalled in the shard it was allowed to. What is
-- known of a worker may be forgotten at any time: then it is counted again.
--
-- ARGV  the number of the shard that asks
--       workers to the end, each: its name, how many tasks it can hold, how many of them the shard asks for; the
--       number of counts of what it holds in shards, and those, each: shard, the number of the allowance that
--       was recalled there before it was counted, and how many tasks it held
-- Body  per worker {'ALLOWED', most, number, others}: how many tasks it may hold in that shard, the number of this
--         allowance, and if that is less than was asked for, the other shards that are allowed some: flat pairs
--         of shard and number;
--       or {'UNKNOWN', number}: count what it holds in every shard, under this number

if repeated then
  return answer(repeated)
end

-- Of a worker that nobody asks for any more all is forgotten after a day.
local KEPT_S = 86400

local i = 6

local function next_arg()
  i = i + 1
  return ARGV[i - 1]
end

local asking, number = ARGV[5], new_birth()

-- What is allowed, per shard; nil, and the number to count under, as long as nobody has counted.
local function read_allowed(key)
  local flat, allowed = call('HGETALL', key), {}
  for n = 1, #flat, 2 do
    if flat[n] == 'counting' then
      return nil, tonumber(flat[n + 1])
    end
    local born, most = string.match(flat[n + 1], '^(%d+) (%d+)$')
    allowed[flat[n]] = {number = tonumber(born), most = tonumber(most)}
  end
  return flat[1] and allowed
end

-- Counts by shard, each once.
local function read_counts()
  local counts = {}
  for n = 1, tonumber(next_arg()) do
    counts[n] = {shard = next_arg(), number = tonumber(next_arg()), most = tonumber(next_arg())}
  end
  return counts
end

local function write(key, shard, allowance)
  if allowance.most > 0 or shard == asking then
    call('HSET', key, shard, whole(allowance.number) .. ' ' .. whole(allowance.most))
  else
    call('HDEL', key, shard)
  end
end

-- Takes over what was counted. Where more was allowed meanwhile, what was counted is out of date.
local function lower(key, allowed, counts)
  for _, count in ipairs(counts) do
    local known = allowed[count.shard]
    if known and known.number == count.number then
      known.most = count.most
      write(key, count.shard, known)
    end
  end
end

local function allow(worker, capacity, wanted, counts)
  local key = prefix .. 'allowed:' .. escape(worker)
  local allowed, counting = read_allowed(key)
  if not allowed then
    if not counting or not counts[1] or counts[1].number ~= counting then
      counting = counting or number
      call('HSET', key, 'counting', whole(counting))
      call('EXPIRE', key, KEPT_S)
      return {'UNKNOWN', whole(counting)}
    end
    call('DEL', key)
    allowed = {}
    for _, count in ipairs(counts) do
      allowed[count.shard] = count
    end
  end
  lower(key, allowed, counts)
  local own, elsewhere, others = 0, 0, {}
  for shard, known in pairs(allowed) do
    if shard == asking then
      own = known.most
    elseif known.most > 0 then
      elsewhere = elsewhere + known.most
      others[#others + 1] = shard
      others[#others + 1] = whole(known.number)
    end
  end
  local most = math.max(math.min(math.max(own, wanted), capacity - elsewhere), 0)
  write(key, asking, {number = number, most = math.max(own, most)})
  call('EXPIRE', key, KEPT_S)
  return {'ALLOWED', most, whole(number), most < wanted and others or {}}
end

local body = {}
while i <= #ARGV do
  local worker, capacity, wanted = next_arg(), tonumber(next_arg()), tonumber(next_arg())
  body[#body + 1] = allow(worker, capacity, wanted, read_counts())
end
return finish(body)
