-- Reads owners that must be looked after, the earliest first.
--
-- ARGV  limit
-- Body  what `shown_owner` tells of each; at most `limit`, and fewer if they would be over the limit of
--       one answer. Entries without an owner are removed.

local ENTRIES_MAX = 10000

local limit = tonumber(ARGV[5])
local body, bytes, looked_at = {}, 0, 0

-- Adds an owner to the answer; false: it would be too much.
local function add_owner(o)
  local shown, size = shown_owner(o)
  bytes = bytes + size
  if bytes > OWNERS_BYTES_MAX and body[1] then
    return false
  end
  body[#body + 1] = shown
  return true
end

local function gather()
  while #body < limit and looked_at < ENTRIES_MAX do
    local due = call('ZRANGEBYSCORE', prefix .. 'alarm', '-inf', now, 'LIMIT', #body, limit - #body)
    if not due[1] then
      return
    end
    looked_at = looked_at + #due
    for _, member in ipairs(due) do
      local o = parse_alarm(member)
      if not o or not find_owner(o) then
        call('ZREM', prefix .. 'alarm', member)
      elseif not add_owner(o) then
        return
      end
    end
  end
end

gather()
return finish(body, {})
