-- Reads items of an owner.
--
-- ARGV  kind, queue, name; how many to pass over; most items
-- Body  the items, fewer if they would be over the limit of one answer

local o = owner_at(ARGV[5], ARGV[6], ARGV[7])
local first, limit = tonumber(ARGV[8]), tonumber(ARGV[9])
local body, bytes = {}, 0

-- Adds an item; false: it would be too much.
local function add_item(item)
  bytes = bytes + #item
  if bytes > OWNERS_BYTES_MAX and body[1] then
    return false
  end
  body[#body + 1] = item
  return true
end

-- In pieces, each about as long as what there is still room for.
local function read_list()
  local count = 16
  while #body < limit do
    local from = first + #body
    local items = call('LRANGE', o.items, from, from + math.min(count, limit - #body) - 1)
    for _, item in ipairs(items) do
      if not add_item(item) then
        return
      end
    end
    if #items < count then
      return
    end
    local average = bytes / #body
    count = math.max(1, math.min(math.floor((OWNERS_BYTES_MAX - bytes) / average), 1000))
  end
end

local function read_results()
  local at = 1
  for n, length in ipairs((read_lengths(o))) do
    if n > first and n <= first + limit then
      if not add_item(call('GETRANGE', o.items, at, at + length - 1)) then
        return
      end
    end
    at = at + length + 1
  end
end

if find_owner(o) then
  (o.kind == 'plan' and read_results or read_list)()
end
return answer(body)
