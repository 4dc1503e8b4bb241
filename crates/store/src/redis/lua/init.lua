-- Sets up a shard and the queues that always exist in it, as far as they are not there. Stands alone: it
-- is the one script that runs on an empty shard.
--
-- KEYS[1]  the hash of the shard; all other keys have its prefix
-- ARGV     number of the shard, shards in all, 1 in a Cluster, the time in milliseconds, 1 if its clock can be
--          moved, the format that is written from now on
--          queues to the end, each: name, as it stands in keys, number of fields, and those
-- Result   1 if the shard was set up now, 0 if it was there

local call = redis.call
local prefix = string.sub(KEYS[1], 1, -6)
local is_new = call('EXISTS', KEYS[1]) == 0
local time = call('TIME')
local birth = math.max(tonumber(call('HGET', KEYS[1], 'birth') or 0), time[1] * 1000000 + time[2])
local i = 7
while i <= #ARGV do
  local name, escaped, count = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  local key = prefix .. 'q:' .. escaped
  if call('EXISTS', key) == 0 then
    birth = birth + 1
    local number = string.format('%.0f', birth)
    call('HSET', key, 'type', 'queue', 'alias', prefix .. 'ready:' .. escaped, 'number', '0', 'since', number,
      'rev', number, unpack(ARGV, i + 3, i + 2 + count))
    call('ZADD', prefix .. 'queues', 0, name)
  end
  i = i + 3 + count
end
call('HSET', KEYS[1], 'birth', string.format('%.0f', birth), 'format', ARGV[6])
if is_new then
  call('HSET', KEYS[1], 'number', ARGV[1], 'shards', ARGV[2], 'cluster', ARGV[3], 'made', ARGV[4])
  if ARGV[5] == '1' then
    call('HSET', KEYS[1], 'ahead', '0')
  end
end
return is_new and 1 or 0
