-- Reads what was done, the newest first.
--
-- ARGV[5]  the id of an entry: only those before it; '' for all
-- ARGV[6]  limit
-- Body     flat pairs of id and entry, JSON

local before = ARGV[5] == '' and '+' or '(' .. ARGV[5]
local body = {}
for _, noted in ipairs(call('XREVRANGE', prefix .. 'audit', before, '-', 'COUNT', ARGV[6])) do
  body[#body + 1], body[#body + 2] = noted[1], noted[2][2]
end
return answer(body)
