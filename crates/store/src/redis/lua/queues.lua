-- Reads queues by name.
--
-- ARGV  after: the last name of the page before, '' to begin; limit
--       or '=', and a name
-- Body  {records, last}: flat pairs of revision and record; the last name read, '' if there are no more

if ARGV[5] == '=' then
  local v = call('HMGET', prefix .. 'q:' .. escape(ARGV[6]), 'rev', 'record')
  return answer({v[1] and v or {}, ''})
end
local limit = tonumber(ARGV[6])
local from = ARGV[5] == '' and '-' or '(' .. ARGV[5]
local names = call('ZRANGEBYLEX', prefix .. 'queues', from, '+', 'LIMIT', 0, limit)
local records = {}
for _, name in ipairs(names) do
  local v = call('HMGET', prefix .. 'q:' .. escape(name), 'rev', 'record')
  if v[1] then
    records[#records + 1] = v[1]
    records[#records + 1] = v[2]
  end
end
return answer({records, #names == limit and names[limit] or ''})
