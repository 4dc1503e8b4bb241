-- Reads owners that must be looked after, the earliest first.
--
-- ARGV  limit
-- Body  what `shown_owner` tells of each; at most `limit`, and fewer if they would be over the limit of
--       one answer. Entries without an owner are removed.

local limit = tonumber(ARGV[5])
local body, bytes = {}, 0
for _, member in ipairs(call('ZRANGEBYSCORE', prefix .. 'alarm', '-inf', now, 'LIMIT', 0, limit)) do
  local o = parse_alarm(member)
  if find_owner(o) then
    local shown, size = shown_owner(o)
    bytes = bytes + size
    if bytes > OWNERS_BYTES_MAX and body[1] then
      break
    end
    body[#body + 1] = shown
  else
    take_out(prefix .. 'alarm', member)
  end
end
return finish(body, {})
