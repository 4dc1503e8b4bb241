-- Reads tasks whose hold has ended or that were not started in time.
--
-- ARGV  limit
-- Body  records as in read.lua, flat pairs with the name of the queue before each; at most `limit`, and
--       fewer if they would be over the limit of one answer. Entries without a record are removed.

local BYTES_MAX = 16777216

local limit = tonumber(ARGV[5])
local found, count, bytes = {}, 0, 0

local function gather(member)
  local kind, name = parse_agenda(member)
  local q = (kind == 'hold' or kind == 'expire') and open(name)
  if not q then
    return
  end
  local late = call('ZRANGEBYSCORE', prefix .. member, '-inf', now, 'LIMIT', 0, limit)
  for _, text in ipairs(late) do
    if count == limit or bytes > BYTES_MAX then
      return
    end
    local birth, id = parse_entry(text)
    local record = read_record(q, id)
    if record and record.birth == birth then
      found[#found + 1] = name
      found[#found + 1] = shown(q, record)
      count, bytes = count + 1, bytes + record.bytes
    else
      take_out(prefix .. member, text)
    end
  end
end

for _, member in ipairs(call('ZRANGEBYSCORE', prefix .. 'agenda', '-inf', now)) do
  gather(member)
end
return finish(found, {})
