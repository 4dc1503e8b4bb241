-- Names owners, ordered by queue and name.
--
-- ARGV  kind
--       queue: only those of this queue; '' for all
--       prefix: only those whose name begins like this
--       queue: where to begin, '' for the first; and where in it, as ZRANGEBYLEX wants it
--       limit
-- Body  flat pairs of queue and name

local kind, only, begins = ARGV[5], ARGV[6], ARGV[7]
local first_queue, first_from, limit = ARGV[8], ARGV[9], tonumber(ARGV[10])
local body, count = {}, 0

local function gather(queue)
  local from = queue == first_queue and first_from or '[' .. begins
  -- No text in UTF-8 has the byte 255, so that is after all that begin alike.
  local to = '(' .. begins .. '\255'
  local key = prefix .. kind .. 's:' .. escape(queue)
  for _, name in ipairs(call('ZRANGEBYLEX', key, from, to, 'LIMIT', 0, limit - count)) do
    body[#body + 1], body[#body + 2] = queue, name
    count = count + 1
  end
end

if only ~= '' then
  gather(only)
  return answer(body)
end
local from = first_queue == '' and '-' or '[' .. first_queue
while count < limit do
  local queues = call('ZRANGEBYLEX', prefix .. kind .. 's', from, '+', 'LIMIT', 0, 100)
  if not queues[1] then
    break
  end
  for _, queue in ipairs(queues) do
    if count < limit then
      gather(queue)
    end
  end
  from = '(' .. queues[#queues]
end
return answer(body)
