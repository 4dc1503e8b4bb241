-- Reads tasks of a queue.
--
-- ARGV  queue, ids to the end
-- Body  per id a record, or false if there is no such task; fewer than were asked for if they would be
--       over the limit of one answer. A record is {fields, payload}: names and values in turn, packed
--       into one string (MessagePack), and the payload if it has a key of its own, else false

local BYTES_MAX = 16777216

local q = open(ARGV[5])
local records, bytes = {}, 0
for i = 6, #ARGV do
  local record = q and read_record(q, ARGV[i])
  bytes = bytes + (record and record.bytes or 0)
  if bytes > BYTES_MAX and i > 6 then
    break
  end
  records[#records + 1] = record and shown(q, record) or false
end
return answer(records)
